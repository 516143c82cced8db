// What other tools say of the states of our objects.
package health

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"

	flux "github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"github.com/fluxcd/pkg/apis/kustomize"
	"github.com/fluxcd/pkg/runtime/cel"
	lua "github.com/yuin/gopher-lua"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"
	"sigs.k8s.io/yaml"
)

type state struct {
	Name    string         `json:"name"`
	Kstatus string         `json:"kstatus"`
	Checks  string         `json:"checks"`
	Object  map[string]any `json:"object"`
}

// read decodes a YAML or JSON file. Whole numbers stay whole, as in objects from an API server.
func read(t *testing.T, path string, into any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, into); err != nil {
		t.Fatal(err)
	}
}

func states(t *testing.T) []state {
	t.Helper()
	var all []state
	read(t, "states.json", &all)
	for i := range all {
		text, err := json.Marshal(all[i].Object)
		if err != nil {
			t.Fatal(err)
		}
		var object unstructured.Unstructured
		if err := object.UnmarshalJSON(text); err != nil {
			t.Fatal(err)
		}
		all[i].Object = object.Object
	}
	if len(all) < 32 {
		t.Fatalf("only %d states", len(all))
	}
	return all
}

func object(s state) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: s.Object}
}

func TestKstatusAgrees(t *testing.T) {
	for _, s := range states(t) {
		said, err := status.Compute(object(s))
		if err != nil || said.Status.String() != s.Kstatus {
			t.Errorf("%s: cli-utils says %+v, %v, not %s", s.Name, said, err, s.Kstatus)
		}
		// Flux and Helm 4 use this one.
		ours, err := flux.Compute(object(s))
		if err != nil || ours.Status.String() != s.Kstatus {
			t.Errorf("%s: Flux's cli-utils says %+v, %v, not %s", s.Name, ours, err, s.Kstatus)
		}
	}
}

func TestFluxAgreesWithItsHealthChecks(t *testing.T) {
	var file struct {
		Spec struct {
			HealthCheckExprs []kustomize.CustomHealthCheck `json:"healthCheckExprs"`
		} `json:"spec"`
	}
	read(t, "../flux-kustomization.yaml", &file)
	judges := map[string]*cel.StatusEvaluator{}
	for _, check := range file.Spec.HealthCheckExprs {
		judge, err := cel.NewStatusEvaluator(&check.HealthCheckExpressions)
		if err != nil {
			t.Fatal(err)
		}
		judges[check.APIVersion+"/"+check.Kind] = judge
	}
	for _, s := range states(t) {
		o := object(s)
		said, err := judges[o.GetAPIVersion()+"/"+o.GetKind()].Evaluate(context.Background(), o)
		// Flux waits while an expression names a field that isn't there yet.
		got := flux.InProgressStatus
		if err == nil {
			got = said.Status
		}
		if got.String() != s.Checks {
			t.Errorf("%s: Flux says %s, %v, not %s", s.Name, got, err, s.Checks)
		}
	}
}

func TestArgoAgreesWithItsHealthChecks(t *testing.T) {
	var file struct {
		Data map[string]string `json:"data"`
	}
	read(t, "../argocd-cm.yaml", &file)
	words := map[string]string{"Current": "Healthy", "InProgress": "Progressing", "Failed": "Degraded"}
	for _, s := range states(t) {
		group, _, _ := strings.Cut(object(s).GetAPIVersion(), "/")
		script := file.Data["resource.customizations.health."+group+"_"+object(s).GetKind()]
		if said, message := run(t, script, s.Object); said != words[s.Checks] || message == "" {
			t.Errorf("%s: Argo CD says %q (%q), not %s", s.Name, said, message, words[s.Checks])
		}
	}
}

// run evaluates a health check with the libraries that Argo CD opens, and returns status and message.
func run(t *testing.T, script string, object map[string]any) (string, string) {
	t.Helper()
	vm := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer vm.Close()
	libraries := []struct {
		name string
		open lua.LGFunction
	}{{lua.LoadLibName, lua.OpenPackage}, {lua.BaseLibName, lua.OpenBase}, {lua.TabLibName, lua.OpenTable}}
	for _, library := range libraries {
		if err := vm.CallByParam(lua.P{Fn: vm.NewFunction(library.open), Protect: true}, lua.LString(library.name)); err != nil {
			t.Fatal(err)
		}
	}
	vm.SetGlobal("obj", value(vm, object))
	if err := vm.DoString(script); err != nil {
		t.Fatal(err)
	}
	health, ok := vm.Get(-1).(*lua.LTable)
	if !ok {
		t.Fatal("the health check returns no table")
	}
	return lua.LVAsString(health.RawGetString("status")), lua.LVAsString(health.RawGetString("message"))
}

// value converts a part of an object.
func value(vm *lua.LState, part any) lua.LValue {
	switch part := part.(type) {
	case map[string]any:
		table := vm.NewTable()
		for key, below := range part {
			table.RawSetString(key, value(vm, below))
		}
		return table
	case []any:
		table := vm.NewTable()
		for _, below := range part {
			table.Append(value(vm, below))
		}
		return table
	case string:
		return lua.LString(part)
	case bool:
		return lua.LBool(part)
	case int64:
		return lua.LNumber(part)
	case float64:
		return lua.LNumber(part)
	default:
		return lua.LNil
	}
}
