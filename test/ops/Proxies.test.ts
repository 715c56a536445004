import { NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Context, Effect, FileSystem, Layer, Schema } from "effect"
import { judgeProxy } from "../../src/cli/doctor/PublicChecks.ts"
import { videoBytesMax } from "../../src/services/instance/ContentLimits.ts"
import { makeProbe, probeHeader, SeenRequest } from "../../src/services/instance/ProxyProbes.ts"
import { picture } from "../support/MediaFiles.ts"
import { freePort } from "../support/ports.ts"
import { cli, printed, start } from "../support/Program.ts"
import * as Programs from "../support/programs/Programs.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { filesName, listening, proxies, publicName, startProxy } from "./Proxies.ts"
import { byHttp2, clientAddress, events, insecure, secure, socket } from "./ProxyClient.ts"

const signingKey = "a key for the tests of reverse proxies"
const seenRequest = Schema.decodeUnknownEffect(Schema.fromJsonString(SeenRequest))

/** A server that only trusts proxies at 127.0.0.1, with a member's token. */
class Backend extends Context.Service<Backend, { readonly port: number; readonly token: string }>()(
  "murmuration/test/ops/Backend"
) {
  static readonly layer = Layer.effect(
    Backend,
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const { url } = yield* TestDatabase
      const port = yield* freePort
      const variables = {
        DATABASE_URL: url,
        DATA_DIR: yield* fs.makeTempDirectoryScoped({ prefix: "murmuration-proxied-" }),
        PORT: String(port),
        PUBLIC_URL: `https://${publicName}`,
        MEDIA_BASE_URL: `https://${filesName}`,
        TRUSTED_PROXIES: "127.0.0.1",
        SECRET_KEY: signingKey
      }
      const server = yield* start("main", [], variables)
      yield* printed(server, "Murmuration is at")
      yield* cli(["account", "create", "ada", "--email", "ada@example.org", "--confirmed"], variables)
      const { out } = yield* cli(["token", "create", "ada", "--scopes", "read write"], variables)
      return { port, token: /[\w-]{40,}/.exec(out)?.[0] ?? "" }
    })
  )
}

const services = Backend.layer.pipe(Layer.provideMerge(TestDatabase.layer), Layer.provideMerge(NodeServices.layer))

const boundary = "a-boundary-of-the-test"
/** Yields a multipart body with one file, in parts. */
const multipart = function*(parts: Iterable<Uint8Array>) {
  const head = `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="file"\r\n` +
    "content-type: application/octet-stream\r\n\r\n"
  yield Buffer.from(head)
  yield* parts
  yield Buffer.from(`\r\n--${boundary}--\r\n`)
}
const mebibyte = new Uint8Array(1_048_576).fill(7)
const mebibytes = (count: number) => Array.from({ length: count }, () => mebibyte)
const bytesOf = (parts: Iterable<Uint8Array>) => [...parts].reduce((sum, { length }) => sum + length, 0)

layer(services, { excludeTestServices: true })("the sample of", (it) => {
  for (const proxy of proxies) {
    it.effect(
      `${proxy.program} has TLS and HTTP/2, forwards addresses, streams and uploads, and refuses forged addresses (F327, F448)`,
      () =>
        Programs.find(proxy.program) === undefined
          ? Effect.sync(() => console.log(`not run: ${proxy.program} is missing`))
          : Effect.scoped(Effect.gen(function*() {
            const { port, token } = yield* Backend
            const running = yield* startProxy(proxy, port)
            const bearer = { authorization: `Bearer ${token}` }
            yield* listening(running, Effect.map(secure(running, publicName, "/health"), ({ status }) => status))

            assert.notInclude(
              running.output(),
              "duplicate value",
              "F327: a setting of the distribution remains in force"
            )

            const redirect = yield* insecure(running, publicName, "/@ada?page=2")
            assert.include([301, 308], redirect.status)
            assert.match(
              String(redirect.headers["location"]),
              /^https:\/\/social\.example\.org(?::\d+)?\/@ada\?page=2$/
            )
            assert.strictEqual(yield* byHttp2(running, publicName, "/api/v2/instance"), 200)

            // The server reports to a holder of its key how it received the request.
            const forged = yield* secure(running, publicName, "/health", {
              headers: { [probeHeader]: makeProbe(signingKey, Date.now()), "x-forwarded-for": "203.0.113.5" }
            })
            const seen = yield* seenRequest(forged.body)
            assert.deepStrictEqual(seen, {
              address: clientAddress,
              peer: "127.0.0.1",
              host: publicName,
              forwardedFor: clientAddress,
              forwardedProto: "https"
            })
            assert.strictEqual(judgeProxy(new URL(`https://${publicName}`), seen)._tag, "Ok")
            // Signatures of other servers cover the path as sent.
            const encoded = yield* secure(running, publicName, "/api/v1/accounts/lookup?acct=%61da")
            assert.strictEqual(encoded.status, 200, encoded.body)
            const slash = yield* secure(running, publicName, "/tags/a%2Fb")
            assert.notInclude(slash.body, "Apache")

            // F448: a long address leads to one of the sign-in that is three times as long.
            const long = yield* secure(running, publicName, `/disputes/strikes/1?long=${"%C3%A9".repeat(600)}`)
            assert.strictEqual(long.status, 302, long.body)
            assert.isAbove(String(long.headers["location"]).length, 4_096)

            const stream = yield* socket(running, publicName, `/api/v1/streaming?stream=public&access_token=${token}`)
            const sent = yield* events(running, publicName, "/api/v1/streaming/public", token)
            yield* sent.until(":)")
            const body = JSON.stringify({ status: "through the proxy" })
            const posted = yield* secure(running, publicName, "/api/v1/statuses", {
              method: "POST",
              headers: { ...bearer, "content-type": "application/json", "content-length": String(body.length) },
              body: [Buffer.from(body)]
            })
            assert.strictEqual(posted.status, 200, posted.body)
            assert.include(yield* stream.next, "through the proxy")
            yield* sent.until("through the proxy")

            const upload = (parts: ReadonlyArray<Uint8Array>) =>
              secure(running, publicName, "/api/v1/media", {
                method: "POST",
                headers: {
                  ...bearer,
                  "content-type": `multipart/form-data; boundary=${boundary}`,
                  "content-length": String(bytesOf(multipart(parts)))
                },
                body: multipart(parts)
              })
            const png = yield* Effect.promise(() => picture().png().toBuffer())
            const uploaded = yield* upload([png])
            assert.strictEqual(uploaded.status, 200, uploaded.body)
            // The largest file arrives; the server refuses it only for its type.
            const large = yield* upload(mebibytes(videoBytesMax / mebibyte.length))
            assert.strictEqual(large.status, 422, large.body)
            assert.include(large.body, "error")

            const { url }: { readonly url: string } = JSON.parse(uploaded.body)
            assert.isTrue(url.startsWith(`https://${filesName}/`), url)
            const path = url.slice(`https://${filesName}`.length)
            const first = yield* secure(running, filesName, path)
            const second = yield* secure(running, filesName, path)
            assert.deepStrictEqual([first.status, second.status], [200, 200])
            assert.strictEqual(first.headers["content-type"], "image/png")
            if (proxy.program !== "caddy") assert.match(String(second.headers["x-cache"]), /^HIT/)
            // The host name for files serves nothing else.
            assert.strictEqual((yield* secure(running, filesName, "/api/v2/instance")).status, 404)
          }))
    )
  }
})
