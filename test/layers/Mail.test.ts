import { NodeCrypto, NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Effect, FileSystem, Layer } from "effect"
import { layer as mailLayer } from "../../src/layers/Mail.ts"
import { Mailer } from "../../src/services/emails/Mailer.ts"
import { mailServer } from "../support/SmtpDouble.ts"
import { testEnvironment } from "../support/TestEnvironment.ts"

const Platform = Layer.merge(NodeServices.layer, NodeCrypto.layer)

const send = (variables: Record<string, string>) =>
  Effect.gen(function*() {
    const mailer = yield* Mailer
    yield* mailer.send({
      to: "ada@example.org",
      subject: "Grüße\r\nBcc: everybody@example.org",
      text: "Hello Ada",
      html: "<p>Hello Ada</p>"
    })
  }).pipe(Effect.provide(Layer.fresh(mailLayer.pipe(Layer.provide(testEnvironment(variables))))))

layer(Platform, { excludeTestServices: true })("Mail", (it) => {
  it.effect("without SMTP_URL writes each e-mail, as it would be sent, into DATA_DIR/mail", () =>
    Effect.scoped(Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const dataDir = yield* fs.makeTempDirectoryScoped({ prefix: "murmuration-mail-" })
      yield* send({ DATA_DIR: dataDir, PUBLIC_URL: "https://example.net" })
      const [file, ...others] = yield* fs.readDirectory(`${dataDir}/mail`)
      assert.deepStrictEqual(others, [])
      const text = yield* fs.readFileString(`${dataDir}/mail/${file}`)
      assert.match(text, /^From: notifications@example\.net\r?$/m)
      assert.match(text, /^To: ada@example\.org\r?$/m)
      assert.notMatch(text, /^Bcc:/im)
      assert.include(text, "Hello Ada")
      assert.include(text, "<p>Hello Ada</p>")
    })))

  it.effect("with SMTP_URL passes it to that server, from MAIL_FROM", () =>
    Effect.scoped(Effect.gen(function*() {
      const { port, received } = yield* mailServer()
      yield* send({ SMTP_URL: `smtp://127.0.0.1:${port}`, MAIL_FROM: "hello@example.net", DATA_DIR: "/nowhere" })
      const session = received.join("")
      assert.match(session, /^MAIL FROM:<hello@example\.net>/m)
      assert.match(session, /^RCPT TO:<ada@example\.org>/m)
      assert.notInclude(session, "RCPT TO:<everybody@example.org>")
    })))
})
