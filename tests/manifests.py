#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The Kubernetes jobs, deployments and services of the docs: manifests.py PROGRAM PAGE...

Each key of a manifest must be one of the API, and each value of its type. The API is that of the
Python client (python3-kubernetes of Debian); without it nothing is checked. The script of an indexed
job runs here, once for each index, with fewer points; its parts, joined, must be the whole output.
"""
import os
import re
import subprocess
import sys
import tempfile

try:
    import kubernetes.client as api
    import yaml
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(0)

PLAIN = {"str": str, "int": int, "bool": bool, "float": (int, float)}
INDEXES = 5


def wrong(value, kind, place):
    """What is wrong with a value of a type of the API, each with its place."""
    inner = re.fullmatch(r"(list|dict)[(\[](?:str, )?(.*)[)\]]", kind)
    if inner and inner[1] == "list":
        if not isinstance(value, list):
            return [f"{place}: not a list"]
        return [one for i, item in enumerate(value) for one in wrong(item, inner[2], f"{place}[{i}]")]
    if inner:
        if not isinstance(value, dict):
            return [f"{place}: not an object"]
        return [one for key, item in value.items() for one in wrong(item, inner[2], f"{place}.{key}")]
    if kind == "object":
        return []
    if kind in PLAIN:
        fits = isinstance(value, PLAIN[kind]) and (kind == "bool" or not isinstance(value, bool))
        return [] if fits else [f"{place}: not of type {kind}"]
    model = getattr(api, kind)
    if not isinstance(value, dict):
        return [f"{place}: not an object"]
    types = {key: model.openapi_types[name] for name, key in model.attribute_map.items()}
    found = [f"{place}.{key}: unknown" for key in value if key not in types]
    for key in value:
        if key in types:
            found += wrong(value[key], types[key], f"{place}.{key}")
    return found


def wrong_volumes(pod):
    """What is mounted and no volume."""
    volumes = {volume["name"] for volume in pod.get("volumes", [])}
    return [f"{container['name']}: mounts what is no volume" for container in pod["containers"]
            if {mount["name"] for mount in container.get("volumeMounts", [])} - volumes]


def wrong_job(job):
    """What is wrong with a job, by its types and by what the API says of a job in words."""
    found = wrong(job, "V1Job", "job")
    if found:
        return found
    pod = job["spec"]["template"]["spec"]
    if job.get("apiVersion") != "batch/v1" or job.get("kind") != "Job":
        found.append("job: not batch/v1 Job")
    if not re.fullmatch("[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?", job["metadata"]["name"]):
        found.append("job.metadata.name: not a name")
    if pod.get("restartPolicy") not in ("Never", "OnFailure"):
        found.append("restartPolicy: a job has Never or OnFailure")
    if (job["spec"].get("completionMode") == "Indexed") != ("completions" in job["spec"]):
        found.append("completions: an indexed job has them, and no other does here")
    found += wrong_volumes(pod)
    for container in pod["containers"]:
        # The image of packaging/Containerfile starts the service, unless a command replaces it; it
        # has a user by name, whom runAsNonRoot accepts by number only.
        if "command" not in container:
            found.append(f"{container['name']}: no command, so args go to the service")
        security = container.get("securityContext", {})
        if security.get("runAsNonRoot") and "runAsUser" not in security:
            found.append(f"{container['name']}: runAsNonRoot without runAsUser")
        for text in container.get("command", []) + container.get("args", []):
            if "$(" in text:
                found.append(f"{container['name']}: Kubernetes replaces $(...) itself")
    return found


def wrong_server(deployment, service, before):
    """What is wrong with a deployment of a script of --emit, the service in front of it, and the
    text before them, whose last command wrote the script."""
    found = wrong(deployment, "V1Deployment", "deployment") + wrong(service, "V1Service", "service")
    if found:
        return found
    template = deployment["spec"]["template"]
    labels = template["metadata"]["labels"]
    container = template["spec"]["containers"][0]
    found += wrong_volumes(template["spec"])
    if deployment.get("apiVersion") != "apps/v1" or service.get("apiVersion") != "v1":
        found.append("deployment and service: not apps/v1 and v1")
    if deployment["spec"]["selector"]["matchLabels"] != labels or service["spec"]["selector"] != labels:
        found.append("the selectors do not choose the pods")
    ports = {port["containerPort"] for port in container["ports"]}
    for probe in ("startupProbe", "readinessProbe"):
        if container.get(probe, {}).get("httpGet", {}).get("port") not in ports:
            found.append(f"{probe}: the container has no such port")
    if any(port.get("targetPort", port["port"]) not in ports for port in service["spec"]["ports"]):
        found.append("service: the container has no such port")
    devices = re.findall(r"--devices (\d+) .*--emit .*> (\S+)", before)
    if not devices or container["resources"]["limits"].get("nvidia.com/gpu") != devices[-1][0]:
        found.append("the GPUs are not those of --devices")
    mounted = {mount["mountPath"] for mount in container["volumeMounts"]}
    if not devices or os.path.split(container["command"][-1])[0] not in mounted or \
            os.path.basename(container["command"][-1]) != devices[-1][1]:
        found.append("the command is not the script that was written")
    return found


def notices_server(deployment, service, before):
    """Whether mistakes in a deployment are noticed."""
    text = yaml.safe_dump_all([deployment, service])
    for old, new in (("matchLabels", "matchLabel"), ("nvidia.com/gpu: '4'", "nvidia.com/gpu: '8'"),
                     ("name: shm", "name: other"), ("serve.sh", "run.sh"), ("port: 8000", "port: 80"),
                     ("app: llama", "app: other"), ("apps/v1", "v1"), ("failureThreshold: ", "failureThreshold: a")):
        changed = list(yaml.safe_load_all(text.replace(old, new, 1)))
        if old not in text or not wrong_server(*changed, before):
            return [f"not noticed: {new}"]
    return []


def run_indexes(program, job):
    """Runs the script of an indexed job for each index, and joins the parts."""
    command = job["spec"]["template"]["spec"]["containers"][0]["command"]
    small = [text.replace("1:1M", "1:60").replace(f"/{job['spec']['completions']}", f"/{INDEXES}")
             for text in command]
    if small == command or command[:2] != ["sh", "-c"]:
        return ["the script of the indexed job is another one"]
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "bin"))
        os.symlink(os.path.realpath(program), os.path.join(folder, "bin", "roofline"))
        around = dict(os.environ, PATH=os.path.join(folder, "bin") + ":" + os.environ["PATH"])
        for index in range(INDEXES):
            subprocess.run(small, cwd=folder, check=True,
                           env=dict(around, JOB_COMPLETION_INDEX=str(index)))
        parts = sorted(name for name in os.listdir(folder) if name.startswith("part."))
        joined = b"".join(open(os.path.join(folder, name), "rb").read() for name in parts)
        words = re.search(r"roofline (sweep .*?) --threads", small[2])[1].split()
        whole = subprocess.run([program] + words, check=True, stdout=subprocess.PIPE).stdout
    return [] if len(parts) == INDEXES and joined == whole else ["the joined parts are not the whole"]


def notices(job):
    """Whether mistakes in a job are noticed."""
    text = yaml.safe_dump(job)
    for before, after in (("restartPolicy", "restartPolice"), ("containers:", "container:"),
                          ("backoffLimit: ", "backoffLimit: a"), ("command:", "args:"),
                          ("runAsUser: 65534", "runAsGroup: 65534"), ("batch/v1", "batch/v2")):
        if before not in text or not wrong_job(yaml.safe_load(text.replace(before, after))):
            return [f"not noticed: {after}"]
    return []


def main():
    program, found, jobs, servers = sys.argv[1], [], 0, 0
    for page in sys.argv[2:]:
        text = open(page).read()
        for block in re.finditer(r"^```yaml\n(.*?)^```$", text, re.M | re.S):
            documents = list(yaml.safe_load_all(block[1]))
            if [isinstance(one, dict) and one.get("kind") for one in documents] == ["Deployment", "Service"]:
                servers += 1
                before = text[:block.start()]
                here = wrong_server(*documents, before) or notices_server(*documents, before)
                found += [f"{page}: {documents[0]['metadata']['name']}: {one}" for one in here]
            for job in documents:
                if not isinstance(job, dict) or job.get("kind") != "Job":
                    continue
                jobs += 1
                here = wrong_job(job)
                if not here:
                    here = notices(job)
                if not here and job["spec"].get("completionMode") == "Indexed":
                    here = run_indexes(program, job)
                found += [f"{page}: {job['metadata']['name']}: {one}" for one in here]
    for one in found:
        print("FAIL", one)
    print(f"{jobs} jobs and {servers} servers, {len(found)} mistakes")
    return 1 if found or jobs == 0 or servers == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
