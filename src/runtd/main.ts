#!/usr/bin/env node
/** `runtd`: how V8 manages the heap is set before the program is loaded, because loading leaves garbage too. */
import { keepHeapSmall } from "./heap.ts";

keepHeapSmall();
await import("./program.ts");
