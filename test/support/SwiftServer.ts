import { Effect, FileSystem } from "effect"
import { spawn } from "node:child_process"
import { freePort } from "./ports.ts"
import * as Programs from "./programs/Programs.ts"

/* OpenStack Swift as packaged by Debian: a second S3 implementation besides the test double. */

/**
 * Program that runs all of Swift in one process, with objects in memory. Prints "ready" and ends when its input closes.
 */
const program = `
import eventlet
eventlet.monkey_patch()
import json, os, sys, threading
from swift.common import utils
settings = json.loads(sys.argv[1])
etc, ports = settings["etc"], settings["ports"]
utils.set_swift_dir(etc)
from eventlet import wsgi
from swift.common.ring import RingBuilder
from swift.common.wsgi import loadapp
for name in ("account", "container", "object"):
    builder = RingBuilder(1, 1, 1)
    builder.add_dev(dict(region=1, zone=1, ip="127.0.0.1", port=ports[name], replication_ip="127.0.0.1",
        replication_port=ports[name], device="sda", weight=1.0, meta=""))
    builder.rebalance()
    builder.get_ring().save(os.path.join(etc, name + ".ring.gz"))
for name in ("account", "container", "object", "proxy"):
    app = loadapp(os.path.join(etc, name + ".conf"))
    listener = eventlet.listen(("127.0.0.1", ports[name]))
    eventlet.spawn(wsgi.server, listener, app, log_output=False)
eventlet.sleep(0)
print("ready", flush=True)
eventlet.tpool.execute(sys.stdin.read)
os._exit(0)
`

const storageServer = (name: string, app: string, folder: string) => `
[DEFAULT]
swift_dir = ${folder}/etc
devices = ${folder}/devices
mount_check = false
[pipeline:main]
pipeline = ${name}-server
[app:${name}-server]
use = egg:swift#${app}
`

const proxyServer = (folder: string) => `
[DEFAULT]
swift_dir = ${folder}/etc
[pipeline:main]
pipeline = catch_errors cache s3api tempauth slo proxy-server
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:cache]
use = egg:swift#memcache
memcache_servers = 127.0.0.1:1
[filter:s3api]
use = egg:swift#s3api
location = eu-test-1
[filter:tempauth]
use = egg:swift#tempauth
user_murmuration_tester = a-secret-of-the-tests .admin
[filter:slo]
use = egg:swift#slo
`

const swift = `
[swift-hash]
swift_hash_path_suffix = suffix
swift_hash_path_prefix = prefix
[storage-policy:0]
name = one
default = yes
`

/** Starts Swift; returns the variables of a server that uses it. The bucket does not exist yet. */
export const swiftServer = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const python = yield* Effect.sync(() => Programs.path("swift"))
  const folder = yield* fs.makeTempDirectoryScoped({ prefix: "murmuration-swift-" })
  yield* fs.makeDirectory(`${folder}/etc`)
  yield* fs.makeDirectory(`${folder}/devices/sda`, { recursive: true })
  const files = {
    "swift.conf": swift,
    "account.conf": storageServer("account", "account", folder),
    "container.conf": storageServer("container", "container", folder),
    "object.conf": storageServer("object", "mem_object", folder),
    "proxy.conf": proxyServer(folder)
  }
  yield* Effect.forEach(Object.entries(files), ([name, text]) => fs.writeFileString(`${folder}/etc/${name}`, text))
  const ports = {
    account: yield* freePort,
    container: yield* freePort,
    object: yield* freePort,
    proxy: yield* freePort
  }
  yield* Effect.acquireRelease(
    Effect.callback<ReturnType<typeof spawn>, Error>((resume) => {
      const child = spawn(python, ["-c", program, JSON.stringify({ etc: `${folder}/etc`, ports })], {
        stdio: ["pipe", "pipe", "pipe"]
      })
      let output = ""
      child.stderr.on("data", (data) => output += data)
      child.stdout.on("data", (data) => String(data).includes("ready") && resume(Effect.succeed(child)))
      child.once("close", () => resume(Effect.fail(new Error(`Swift did not start: ${output}`))))
    }),
    (child) =>
      Effect.callback<void>((resume) => {
        child.once("close", () => resume(Effect.void))
        child.stdin?.end()
      })
  )
  return {
    S3_ENDPOINT: `http://127.0.0.1:${ports.proxy}`,
    S3_BUCKET: "files",
    S3_REGION: "eu-test-1",
    S3_ACCESS_KEY_ID: "murmuration:tester",
    S3_SECRET_ACCESS_KEY: "a-secret-of-the-tests"
  }
})
