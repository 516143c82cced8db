{{- define "kubeonkube.name" -}}
{{- if contains "kubeonkube" .Release.Name }}{{ .Release.Name | trunc 40 | trimSuffix "-" }}{{ else }}{{ printf "%s-kubeonkube" .Release.Name | trunc 40 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "kubeonkube.selector" -}}
app.kubernetes.io/name: kubeonkube
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "kubeonkube.labels" -}}
{{ include "kubeonkube.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "kubeonkube.subjects" -}}
- kind: ServiceAccount
  name: {{ include "kubeonkube.name" . }}
  namespace: {{ .Release.Namespace }}
{{- end }}

{{- /* The host of publicUrl. */ -}}
{{- define "kubeonkube.host" -}}
{{ required "Set publicUrl to the https address that people open." .Values.publicUrl | trimPrefix "https://" | trimSuffix "/" | regexFind "^[^:]+" }}
{{- end }}
