/** A named warning of the derivation: something was ignored or completed, and the configuration still works. */
export interface Warning {
  readonly code: string;
  readonly pointer: string;
  readonly message: string;
}

export type Warn = (code: string, pointer: string, message: string) => void;
