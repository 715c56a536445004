import { NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Effect, FileSystem, Layer, Result } from "effect"
import { IpNetwork } from "effect/net"
import { TestClock } from "effect/testing"
import { judgeProxy } from "../../src/cli/doctor/PublicChecks.ts"
import * as DatabaseClock from "../../src/layers/DatabaseClock.ts"
import { certificate, privateKey } from "../services/outbound/certificate.ts"
import { cli } from "../support/CommandLine.ts"
import { nameServer } from "../support/NameServer.ts"
import { freePort } from "../support/ports.ts"
import * as Program from "../support/Program.ts"
import { fixedReplies, proxyTo } from "../support/Proxy.ts"
import { startRedis } from "../support/RedisServer.ts"
import { s3Double } from "../support/S3Double.ts"
import { mailServer } from "../support/SmtpDouble.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

const Live = TestDatabase.layer.pipe(Layer.provideMerge(NodeServices.layer))

layer(Live, { excludeTestServices: true })("npm run cli -- doctor", (it) => {
  it.effect(
    "checks the file storage, and reports the bucket's error",
    () =>
      Effect.scoped(Effect.gen(function*() {
        const { url } = yield* TestDatabase
        const { variables } = yield* s3Double
        const fs = yield* FileSystem.FileSystem
        const dataDir = yield* fs.makeTempDirectoryScoped({ prefix: "murmuration-cli-" })
        const common = { DATABASE_URL: url, DATA_DIR: dataDir }
        const disk = yield* cli(["doctor"], common)
        assert.strictEqual(disk.code, 0, disk.out)
        assert.match(disk.out, /^ok {5}Clock: -?\d+ ms ahead of that of Postgres$/m)
        assert.include(disk.out, `ok     Files: ${dataDir}/media\n`)
        const bucket = yield* cli(["doctor"], { ...common, ...variables })
        assert.include(bucket.out, `ok     Files: bucket files at ${variables.S3_ENDPOINT}\n`)
        const secret = "another-secret-than-the-bucket's"
        const ill = yield* cli(["doctor"], { ...common, ...variables, S3_SECRET_ACCESS_KEY: secret })
        assert.strictEqual(ill.code, 1)
        assert.match(ill.out, /^FAIL {3}Files: S3 responded to GET with 403: SignatureDoesNotMatch/m)
        assert.notInclude(ill.out + ill.err, secret)
        const half = yield* cli(["doctor"], { ...common, S3_BUCKET: "files" })
        assert.match(half.err, /S3_ACCESS_KEY_ID: .*\n.*S3_SECRET_ACCESS_KEY: /)
      }))
  )

  it.effect(
    "prints its checks as JSON: name, outcome and message, with the exit code of the text",
    () =>
      Effect.scoped(Effect.gen(function*() {
        const { url } = yield* TestDatabase
        const fs = yield* FileSystem.FileSystem
        const dataDir = yield* fs.makeTempDirectoryScoped({ prefix: "murmuration-cli-" })
        const variables = { DATABASE_URL: url, DATA_DIR: dataDir }
        const good = yield* cli(["doctor", "--json"], variables)
        assert.strictEqual(good.code, 0, good.err)
        const checks: ReadonlyArray<Record<string, string>> = JSON.parse(good.out)
        for (const check of checks) {
          assert.deepStrictEqual(Object.keys(check), ["name", "outcome", "words"])
          assert.include(["ok", "warn", "skip"], check["outcome"])
        }
        const text = (yield* cli(["doctor"], variables)).out
        assert.deepStrictEqual(
          checks.map(({ name, outcome }) => `${outcome} ${name}`),
          text.trim().split("\n").map((line) => line.replace(/^(\w+) +(.*?): .*$/, "$1 $2"))
        )
        const misspelt = yield* cli(["doctor", "--json"], { ...variables, PUBLC_URL: "https://example.org" })
        assert.strictEqual(misspelt.code, 1)
        assert.deepInclude(JSON.parse(misspelt.out), {
          name: "Configuration",
          outcome: "fail",
          words: "PUBLC_URL is not a setting of this server; did you mean PUBLIC_URL?"
        })
      }))
  )

  it.effect("F231: on a folder that never ran reports that and creates nothing", () =>
    Effect.scoped(Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const parent = yield* fs.makeTempDirectoryScoped({ prefix: "murmuration-cli-" })
      const { code, err, out } = yield* cli(["doctor"], { DATA_DIR: `${parent}/data` })
      assert.strictEqual(code, 0, out + err)
      assert.include(
        out,
        "skip   Postgres: this folder never ran a server, which creates its database when it starts\n"
      )
      assert.deepStrictEqual(yield* fs.readDirectory(parent), [])
    })))

  it.effect("names a misspelt variable, and continues if Postgres does not respond", () =>
    Effect.gen(function*() {
      const port = yield* freePort
      const { code, out } = yield* cli(["doctor"], {
        DATABASE_URL: `postgres://nobody:none@127.0.0.1:${port}/none`,
        DATA_DIR: "/nowhere",
        PUBLC_URL: "https://example.org"
      })
      assert.strictEqual(code, 1)
      assert.include(out, "FAIL   Configuration: PUBLC_URL is not a setting of this server; did you mean PUBLIC_URL?\n")
      assert.match(out, /^FAIL {3}Postgres: .*ECONNREFUSED/m)
      assert.include(out, "skip   SMTP: SMTP_URL is not set")
    }))

  it.effect(
    "looks up the mail server, SPF, DKIM and DMARC of the sender's domain",
    () =>
      Effect.scoped(Effect.gen(function*() {
        const { url } = yield* TestDatabase
        const { port } = yield* mailServer({ auth: true })
        const { address } = yield* nameServer({
          "TXT good.example": "v=spf1 mx -all",
          "TXT mail._domainkey.good.example": "v=DKIM1; p=abc",
          "TXT _dmarc.good.example": "v=DMARC1; p=none"
        })
        const common = { DATABASE_URL: url, DATA_DIR: "/nowhere", NAME_SERVERS: address }
        const good = yield* cli(["doctor"], {
          ...common,
          SMTP_URL: `smtp://murmur:right@127.0.0.1:${port}`,
          MAIL_FROM: "Birds <birds@good.example>"
        })
        assert.match(good.out, /^ok {5}SMTP: .*as murmur; npm run cli -- mail test/m)
        assert.include(good.out, "ok     SPF: good.example: v=spf1 mx -all\n")
        assert.match(good.out, /^ok {5}DKIM: good\.example has names for keys/m)
        assert.include(good.out, "ok     DMARC: good.example: v=DMARC1; p=none")
        const bare = yield* cli(["doctor"], {
          ...common,
          SMTP_URL: `smtp://murmur:wrong@127.0.0.1:${port}`,
          MAIL_FROM: "birds@bare.example"
        })
        assert.strictEqual(bare.code, 1)
        assert.match(bare.out, /^FAIL {3}SMTP: Sign-in: .*535/m)
        assert.match(bare.out, /^warn {3}SPF: bare\.example has no record/m)
        assert.match(bare.out, /^warn {3}DKIM: bare\.example has no key/m)
        assert.match(bare.out, /^warn {3}DMARC: bare\.example has no record/m)
      }))
  )

  it.effect(
    "checks Redis for its version, the collector, the translation and the captcha service",
    () =>
      Effect.scoped(Effect.gen(function*() {
        const { url } = yield* TestDatabase
        const redis = yield* startRedis
        const port = yield* fixedReplies((path) =>
          path === "/v1/traces"
            ? { status: 200, body: "{}" }
            : path === "/languages"
            ? { status: 200, body: "[{\"code\":\"en\",\"targets\":[\"de\"]}]" }
            : { status: 200, body: "{\"success\":false,\"error-codes\":[\"invalid-input-secret\"]}" }
        )
        const at = `http://127.0.0.1:${port}`
        const variables = {
          DATABASE_URL: url,
          DATA_DIR: "/nowhere",
          REDIS_URL: redis.url,
          OTLP_URL: at,
          TRANSLATION_URL: at,
          CAPTCHA: "hcaptcha",
          CAPTCHA_SITE_KEY: "site",
          CAPTCHA_SECRET_KEY: "hunter2",
          CAPTCHA_VERIFY_URL: `${at}/siteverify`,
          CAPTCHA_SCRIPT_URL: `${at}/api.js`
        }
        const { code, err, out } = yield* cli(["doctor"], variables)
        assert.strictEqual(code, 1)
        assert.match(out, /^ok {5}Redis: \d+\.\d+/m)
        assert.include(out, `ok     Tracing: ${at}/v1/traces accepts spans\n`)
        assert.include(out, "ok     Translation: LibreTranslate, 2 source languages\n")
        assert.include(out, `FAIL   Captcha: ${at}/siteverify refuses the keys: invalid-input-secret\n`)
        assert.notInclude(out + err, "hunter2")
        const closed = `http://127.0.0.1:${yield* freePort}`
        const away = yield* cli(["doctor"], { ...variables, OTLP_URL: closed, TRANSLATION_URL: closed })
        assert.match(away.out, /^FAIL {3}Tracing: .*did not respond/m)
        assert.match(away.out, /^FAIL {3}Translation: /m)
      }))
  )

  it.effect(
    "checks PUBLIC_URL from this machine: response, WebFinger, and what the proxy forwards",
    () =>
      Effect.scoped(Effect.gen(function*() {
        const { url } = yield* TestDatabase
        const fs = yield* FileSystem.FileSystem
        const dataDir = yield* fs.makeTempDirectoryScoped({ prefix: "murmuration-cli-" })
        const port = yield* freePort
        const proxy = yield* proxyTo(port)
        const variables = {
          DATABASE_URL: url,
          DATA_DIR: dataDir,
          PORT: String(port),
          PUBLIC_URL: `http://127.0.0.1:${proxy.port}`
        }
        const away = yield* cli(["doctor"], variables)
        assert.match(away.out, /^FAIL {3}Public address: /m)
        const server = yield* Program.start("main", [], variables)
        yield* Program.printed(server, "Murmuration is at")
        const good = yield* cli(["doctor"], variables)
        assert.strictEqual(good.code, 0, good.out + good.err)
        assert.include(good.out, `ok     Public address: ${variables.PUBLIC_URL} responds to this machine\n`)
        assert.match(good.out, /^ok {5}WebFinger: acct:127\.0\.0\.1@\S+ is found$/m)
        assert.match(good.out, /^ok {5}Proxy headers: .*this machine is 198\.51\.100\.7$/m)
        proxy.change((headers) => ({ ...headers, host: "backend" }))
        assert.match(
          (yield* cli(["doctor"], variables)).out,
          /^FAIL {3}Proxy headers: the proxy changes the Host header/m
        )
        proxy.change((headers) =>
          Object.fromEntries(Object.entries(headers).filter(([name]) => name !== "x-forwarded-for"))
        )
        assert.match((yield* cli(["doctor"], variables)).out, /^FAIL {3}Proxy headers: .* sends no X-Forwarded-For/m)
        // The server reports how a request arrived only to its own doctor.
        const stranger = yield* Effect.promise(() =>
          fetch(`http://127.0.0.1:${port}/health`, {
            headers: { "x-murmuration-probe": `${Date.now()}.${"a".repeat(43)}` }
          })
            .then((response) => response.text())
        )
        assert.strictEqual(stranger, "OK")
      }))
  )

  it("judges what a proxy forwards; F328: also if this machine is the client and the proxy", () => {
    const url = new URL("https://example.org")
    const seen = {
      address: "198.51.100.7",
      peer: "10.0.0.2",
      host: "example.org",
      forwardedFor: "198.51.100.7",
      forwardedProto: "https"
    }
    assert.strictEqual(judgeProxy(url, seen)._tag, "Ok")
    assert.strictEqual(judgeProxy(url, { ...seen, forwardedFor: "203.0.113.77" })._tag, "Fail")
    const untrusted = judgeProxy(url, { ...seen, address: "10.0.0.2" })
    assert.include(untrusted.words, "the proxy at 10.0.0.2 is not in TRUSTED_PROXIES")
    // A machine that resolves its own name to a loopback address has the address of the proxy on it.
    const itself = { ...seen, address: "127.0.0.1", peer: "127.0.0.1", forwardedFor: "203.0.113.77, 127.0.0.1" }
    const loopback = [Result.getOrThrow(IpNetwork.fromString("127.0.0.0/8"))]
    assert.strictEqual(judgeProxy(url, itself, loopback)._tag, "Ok")
    assert.strictEqual(judgeProxy(url, itself)._tag, "Fail")
    assert.strictEqual(judgeProxy(url, { ...itself, forwardedFor: "127.0.0.2" }, loopback)._tag, "Fail")
    assert.strictEqual(judgeProxy(url, { ...itself, forwardedProto: "http" }, loopback)._tag, "Warn")
    assert.strictEqual(judgeProxy(url, { ...seen, forwardedProto: "http" })._tag, "Warn")
    assert.strictEqual(judgeProxy(url, { ...seen, forwardedFor: "203.0.113.77, 198.51.100.7" })._tag, "Ok")
  })

  it.effect("reports a certificate that other servers refuse", () =>
    Effect.scoped(Effect.gen(function*() {
      const { url } = yield* TestDatabase
      const { port } = yield* mailServer({ tls: { cert: certificate, key: privateKey } })
      const { code, out } = yield* cli(["doctor"], {
        DATABASE_URL: url,
        DATA_DIR: "/nowhere",
        PUBLIC_URL: `https://127.0.0.1:${port}`
      })
      assert.strictEqual(code, 1)
      assert.match(out, /^FAIL {3}Certificate: other servers refuse it: /m)
    })))

  it.effect("F19: compares this machine's clock with that of Postgres", () =>
    Effect.gen(function*() {
      assert.isUndefined(DatabaseClock.skewWarning(yield* DatabaseClock.skew))
      yield* TestClock.setTime(Date.now() + 3_600_000)
      assert.match(
        DatabaseClock.skewWarning(yield* DatabaseClock.skew) ?? "",
        /^the clock of this machine is 3[56]\d\d s ahead of/
      )
      yield* TestClock.setTime(0)
      assert.match(
        DatabaseClock.skewWarning(yield* DatabaseClock.skew) ?? "",
        /^the clock of this machine is \d+ s behind/
      )
    }).pipe((test) =>
      Effect.andThen(
        Effect.map(DatabaseClock.skew, (millis) => assert.isBelow(Math.abs(millis), DatabaseClock.skewMillisMax)),
        Effect.provide(Effect.andThen(TestClock.setTime(Date.now()), test), TestClock.layer())
      )
    ))
})
