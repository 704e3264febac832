package main

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	apps "k8s.io/api/apps/v1"
	batch "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
)

// Kinds of documents that runt takes. Metadata and pods in others are those of Pod.
var kinds = map[string]any{
	"Pod": v1.Pod{}, "ReplicationController": v1.ReplicationController{}, "Service": v1.Service{}, "ConfigMap": v1.ConfigMap{},
	"Secret": v1.Secret{}, "PersistentVolumeClaim": v1.PersistentVolumeClaim{}, "PersistentVolume": v1.PersistentVolume{},
	"Namespace": v1.Namespace{}, "ServiceAccount": v1.ServiceAccount{}, "Deployment": apps.Deployment{}, "ReplicaSet": apps.ReplicaSet{},
	"DaemonSet": apps.DaemonSet{}, "StatefulSet": apps.StatefulSet{}, "Job": batch.Job{}, "CronJob": batch.CronJob{},
}

var (
	asJSON = reflect.TypeOf((*json.Marshaler)(nil)).Elem()
	asText = reflect.TypeOf((*encoding.TextMarshaler)(nil)).Elem()
)

// isValue says whether a type is written as one value, such as a quantity or a time.
func isValue(of reflect.Type) bool {
	pointer := reflect.PointerTo(of)
	return pointer.Implements(asJSON) || pointer.Implements(asText)
}

// fieldsOf lists the paths of the fields of a type. "[]" is an entry of a list, ".*" one of a map.
func fieldsOf(of reflect.Type, path string, add func(string)) {
	switch of.Kind() {
	case reflect.Pointer:
		fieldsOf(of.Elem(), path, add)
	case reflect.Slice:
		if of.Elem().Kind() != reflect.Uint8 {
			fieldsOf(of.Elem(), path+"[]", add)
		}
	case reflect.Map:
		fieldsOf(of.Elem(), path+".*", add)
	case reflect.Struct:
		if isValue(of) {
			return
		}
		for at := range of.NumField() {
			field := of.Field(at)
			name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
			inner := path + "." + name
			if name == "" || strings.Contains(options, "inline") {
				fieldsOf(field.Type, path, add)
				continue
			}
			add(inner)
			isPod := field.Type == reflect.TypeOf(v1.PodTemplateSpec{}) || field.Type == reflect.TypeOf(&v1.PodTemplateSpec{})
			if !isPod && !(name == "metadata" && !strings.HasPrefix(inner, ".metadata")) {
				fieldsOf(field.Type, inner, add)
			}
		}
	}
}

// Prints the fields of each kind, one a line: KIND PATH. Those of metadata are printed once, as KIND "metadata".
func printFields() {
	for kind, of := range kinds {
		fieldsOf(reflect.TypeOf(of), "", func(path string) {
			if strings.HasPrefix(path, ".metadata.") && kind != "Pod" {
				return
			}
			fmt.Println(kind, strings.TrimPrefix(path, "."))
		})
	}
}
