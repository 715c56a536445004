import { NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { certificate, privateKey } from "../services/outbound/certificate.ts"
import { cli } from "../support/CommandLine.ts"
import { freePort, mutePort } from "../support/ports.ts"
import { mailServer } from "../support/SmtpDouble.ts"

const to = (address: string, smtpUrl: string, more: Record<string, string> = {}) =>
  cli(["mail", "test", address], { PUBLIC_URL: "https://example.net", SMTP_URL: smtpUrl, ...more })

layer(NodeServices.layer, { excludeTestServices: true })("npm run cli -- mail test", (it) => {
  it.effect("reports name, connection, TLS, sign-in and the server's reply, and sends the e-mail", () =>
    Effect.scoped(Effect.gen(function*() {
      const { port, received } = yield* mailServer({ tls: { cert: certificate, key: privateKey }, auth: true })
      const url = `smtps://murmur:right@localhost:${port}?tls.rejectUnauthorized=false`
      const { code, err, out } = yield* to("ada@example.org", url)
      assert.strictEqual(code, 0, out + err)
      assert.match(out, /^ok {5}Name: localhost is .*127\.0\.0\.1/m)
      assert.match(out, new RegExp(`^ok {5}Connection: \\S+ port ${port}$`, "m"))
      assert.match(out, /^ok {5}TLS: TLSv1\.\d, certificate valid until \w+/m)
      assert.include(out, "ok     Sign-in: as murmur\n")
      assert.include(
        out,
        "ok     Message: from notifications@example.net to ada@example.org; the server replied: 250 2.0.0 queued as 4711\n"
      )
      const session = received.join("")
      assert.match(session, /^MAIL FROM:<notifications@example\.net>/m)
      assert.match(session, /^RCPT TO:<ada@example\.org>/m)
      assert.include(session, "Subject: Test e-mail from example.net")
    })))

  it.effect(
    "reports which step failed, why and what to do; never the password",
    () =>
      Effect.scoped(Effect.gen(function*() {
        const open = yield* mailServer()
        const secured = yield* mailServer({ tls: { cert: certificate, key: privateKey } })
        const locked = yield* mailServer({ auth: true })
        const closed = yield* freePort
        const strict = yield* mailServer({ replies: { RCPT: "550 5.1.1 no such user" } })
        const full = yield* mailServer({ replies: { ".": "552 5.2.2 mailbox full" } })
        const wrong = [
          [`smtps://localhost:${secured.port}`, /^FAIL {3}TLS: .*certificate/im],
          [`smtps://localhost:${open.port}`, /^FAIL {3}TLS: .*\n.*smtp:\/\/ begins without it/im],
          [
            `smtp://localhost:${locked.port}`.replace("//", "//murmur:hunter2@"),
            /^FAIL {3}Sign-in: .*535.*\n.*Correct user/im
          ],
          [`smtp://127.0.0.1:${closed}`, /^FAIL {3}Connection: .*ECONNREFUSED.*\n.*Correct the port/im],
          [`smtp://127.0.0.1:${strict.port}`, /^FAIL {3}Message: .*550 5\.1\.1 no such user/im],
          [`smtp://127.0.0.1:${full.port}`, /^FAIL {3}Message: .*552 5\.2\.2 mailbox full/im]
        ] as const
        for (const [url, words] of wrong) {
          const { code, err, out } = yield* to("ada@example.org", url)
          assert.strictEqual(code, 1, out)
          assert.match(err, words)
          assert.notInclude(out + err, "hunter2")
          assert.notMatch(err, /\n\s+at /)
        }
      }))
  )

  it.effect("ends within seconds if the server never responds", () =>
    Effect.scoped(Effect.gen(function*() {
      const { port } = yield* mutePort
      const { code, err } = yield* to("ada@example.org", `smtp://127.0.0.1:${port}`)
      assert.strictEqual(code, 1)
      assert.match(err, /^FAIL {3}Greeting: /m)
    })))

  it.effect("refuses an invalid address, and a server without SMTP_URL", () =>
    Effect.gen(function*() {
      assert.include((yield* to("nobody", "smtp://127.0.0.1:1")).err, "nobody is not an e-mail address")
      const unset = yield* to("ada@example.org", "")
      assert.strictEqual(unset.code, 1)
      assert.include(unset.err, "SMTP_URL is not set")
    }))
})
