import { Effect, FileSystem } from "effect"
import { execFileSync, spawn } from "node:child_process"
import { readFileSync } from "node:fs"
import { eventually } from "../support/Eventually.ts"
import { freePort } from "../support/ports.ts"
import * as Programs from "../support/programs/Programs.ts"
import { root } from "./PackageTree.ts"

/** Names in the samples. */
export const publicName = "social.example.org"
export const filesName = "files.example.org"

interface Places {
  readonly folder: string
  readonly httpPort: number
  readonly httpsPort: number
  readonly backendPort: number
}

/** A proxy in a test: only ports and paths of its sample are replaced. */
interface Proxy {
  readonly program: "nginx" | "caddy" | "apache" | "haproxy"
  readonly sample: string
  /** Returns the configuration file of the test. */
  readonly configuration: (sample: string, places: Places) => string
  readonly args: (file: string, places: Places) => ReadonlyArray<string>
}

const modules = ["mpm_event", "ssl", "http2", "headers", "proxy", "proxy_http", "cache", "cache_disk", "rewrite"]

export const proxies: ReadonlyArray<Proxy> = [
  {
    program: "nginx",
    sample: "nginx.conf",
    configuration: (sample, { backendPort, folder, httpPort, httpsPort }) =>
      `daemon off; user root; pid ${folder}/pid; error_log stderr;
      events { worker_connections 1024; }
      http { access_log off; client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy;
      fastcgi_temp_path ${folder}/fastcgi; scgi_temp_path ${folder}/scgi; uwsgi_temp_path ${folder}/uwsgi;
      # As in Debian's nginx.conf, whose settings of this level are added to, not replaced.
      ssl_protocols TLSv1 TLSv1.1 TLSv1.2 TLSv1.3;
      ${
        sample
          .replaceAll(/listen (?:\[::\]:)?(80|443)\b/g, (_, port) =>
            `listen ${port === "80" ? `127.0.0.1:${httpPort}` : `127.0.0.1:${httpsPort}`}`)
          .replaceAll(/^\s*listen (\S+)(.*)\n\s*listen \1\2$/gm, "    listen $1$2")
          .replaceAll("127.0.0.1:3000", `127.0.0.1:${backendPort}`)
          .replaceAll(/\/etc\/letsencrypt\/live\/[^/]+/g, folder)
          .replaceAll("/var/cache/nginx/murmuration", `${folder}/cache`)
      } }`,
    args: (file) => ["-c", file, "-e", "stderr"]
  },
  {
    program: "caddy",
    sample: "Caddyfile",
    configuration: (sample, { backendPort, folder, httpPort, httpsPort }) =>
      // The sample leaves certificates to Caddy, so the test's are configured.
      `{\n admin off\n http_port ${httpPort}\n https_port ${httpsPort}\n default_bind 127.0.0.1\n}\n${
        sample
          .replaceAll("127.0.0.1:3000", `127.0.0.1:${backendPort}`)
          .replaceAll(/^(\S+\.example\.org) \{$/gm, `$1 {\n tls ${folder}/fullchain.pem ${folder}/privkey.pem`)
      }`,
    args: (file) => ["run", "--adapter", "caddyfile", "--config", file]
  },
  {
    program: "apache",
    sample: "apache.conf",
    configuration: (sample, { backendPort, folder, httpPort, httpsPort }) =>
      [
        `ServerRoot ${folder}`,
        `PidFile ${folder}/pid`,
        `ErrorLog ${folder}/errors`,
        "ServerName localhost",
        "User www-data",
        "Group www-data",
        `DefaultRuntimeDir ${folder}`,
        ...modules.map((name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`),
        "LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so",
        `Listen 127.0.0.1:${httpPort}`,
        `Listen 127.0.0.1:${httpsPort}`,
        sample
          .replaceAll("<VirtualHost *:80>", `<VirtualHost *:${httpPort}>`)
          .replaceAll("<VirtualHost *:443>", `<VirtualHost *:${httpsPort}>`)
          .replaceAll("127.0.0.1:3000", `127.0.0.1:${backendPort}`)
          .replaceAll(/\/etc\/letsencrypt\/live\/[^/]+/g, folder)
          .replaceAll("/var/cache/apache2/mod_cache_disk", `${folder}/cache`)
      ].join("\n"),
    args: (file) => ["-DFOREGROUND", "-f", file]
  },
  {
    program: "haproxy",
    sample: "haproxy.cfg",
    configuration: (sample, { backendPort, folder, httpPort, httpsPort }) =>
      sample
        .replaceAll(/bind :(80|443),:::\1/g, (_, port) => `bind 127.0.0.1:${port === "80" ? httpPort : httpsPort}`)
        .replaceAll("127.0.0.1:3000", `127.0.0.1:${backendPort}`)
        .replaceAll("/etc/haproxy/certs/", `${folder}/certs/`)
        // HAProxy refuses to start without descriptors for all connections.
        .replace("maxconn 40000", "maxconn 1000"),
    args: (file) => ["-db", "-f", file]
  }
]

/**
 * Makes a certificate for these names, signed by its own authority, in a folder; returns the authority's certificate.
 */
const certify = (folder: string, names: ReadonlyArray<string>): string => {
  const openssl = (...args: ReadonlyArray<string>) =>
    execFileSync("openssl", args, { cwd: folder, stdio: ["ignore", "ignore", "pipe"] })
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
  openssl("req", "-x509", ...key, "-days", "2", "-subj", "/CN=authority", "-keyout", "ca.key", "-out", "ca.pem")
  openssl("req", ...key, "-subj", `/CN=${names[0]}`, "-keyout", "privkey.pem", "-out", "request.pem")
  execFileSync("/bin/sh", [
    "-c",
    `echo 'subjectAltName=${names.map((name) => `DNS:${name}`).join(",")}' > names
    openssl x509 -req -in request.pem -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile names -out one.pem
    cat one.pem ca.pem > fullchain.pem
    mkdir certs && cat fullchain.pem privkey.pem > certs/site.pem`
  ], { cwd: folder, stdio: ["ignore", "ignore", "pipe"] })
  return readFileSync(`${folder}/ca.pem`, "utf8")
}

/** Starts a proxy's sample in front of the server at `backendPort`; it ends with the scope. */
export const startProxy = Effect.fnUntraced(function*(proxy: Proxy, backendPort: number) {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* fs.makeTempDirectoryScoped({ prefix: `murmuration-${proxy.program}-` })
  yield* fs.chmod(folder, 0o755)
  yield* fs.makeDirectory(`${folder}/cache`)
  yield* fs.chmod(`${folder}/cache`, 0o777)
  const authority = certify(folder, [publicName, filesName])
  const places = { folder, httpPort: yield* freePort, httpsPort: yield* freePort, backendPort }
  const file = `${folder}/configuration`
  yield* fs.writeFileString(
    file,
    proxy.configuration(readFileSync(`${root}ops/proxy/${proxy.sample}`, "utf8"), places)
  )
  const output: Array<string> = []
  yield* Effect.acquireRelease(
    Effect.sync(() => {
      const child = spawn(Programs.path(proxy.program), proxy.args(file, places), {
        env: { ...process.env, HOME: folder, XDG_DATA_HOME: folder },
        stdio: ["ignore", "pipe", "pipe"]
      })
      for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => output.push(String(data)))
      return child
    }),
    (child) =>
      Effect.callback<void>((resume) => {
        if (child.exitCode !== null || child.signalCode !== null) return resume(Effect.void)
        child.once("close", () => resume(Effect.void))
        child.kill("SIGTERM")
      })
  )
  return { ...places, authority, output: () => output.join("") }
})

/** Completes when a proxy forwards requests; fails with its messages. */
export const listening = <E, R>(proxy: { readonly output: () => string }, ask: Effect.Effect<number, E, R>) =>
  eventually(Effect.orElseSucceed(ask, () => 0), (status) => status === 200).pipe(
    Effect.timeoutOrElse({
      duration: "2 minutes",
      orElse: () => Effect.die(new Error(`The proxy does not respond: ${proxy.output()}`))
    })
  )
