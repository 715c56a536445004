import { assert, layer } from "@effect/vitest"
import { Effect, Option } from "effect"
import { SqlClient } from "effect/sql"
import { PromisedEmails } from "../../../src/services/emails/PromisedEmails.ts"
import { parse } from "../../../src/services/identity/EmailAddresses.ts"
import { MailLinks } from "../../../src/services/identity/MailLinks.ts"
import { Roles } from "../../../src/services/staff/Roles.ts"
import { get } from "../../support/Requests.ts"
import { client, user } from "../../support/SignedIn.ts"
import * as TestBrowser from "../../support/TestBrowser.ts"
import { Postbox, server } from "../../support/WebServer.ts"

const speaks = Effect.fnUntraced(function*(username: string, locale: string | null) {
  const sql = yield* SqlClient.SqlClient
  const accountId = yield* user(username)
  yield* sql`UPDATE users SET locale = ${locale} WHERE account_id = ${accountId}`
  return accountId
})

layer(server(), { excludeTestServices: true })("the reader's language", (it) => {
  it.effect("F35: e-mails are in the recipient's language, else in the server's first language, else in English", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const links = yield* MailLinks
      yield* speaks("hans", "de-AT")
      yield* speaks("yui", "ja")
      yield* speaks("worf", "tlh")
      yield* speaks("anne", null)
      const subject = Effect.fnUntraced(function*(username: string) {
        yield* links.requestPasswordReset(parse(`${username}@mail.example`))
        return yield* Postbox.next
      })
      const german = yield* subject("hans")
      assert.match(german.subject, /^Neues Passwort festlegen \(/)
      assert.match(
        german.text,
        /^Jemand möchte das Passwort von hans auf \S+ zurücksetzen\. Um ein neues festzulegen, öffne diesen Link:\n\nhttps:/
      )
      assert.match(german.text, /weil dort jemand deine Adresse angegeben hat\.$/)
      assert.match((yield* subject("yui")).subject, /^新しいパスワードの設定/)
      for (const english of ["worf", "anne"]) assert.match((yield* subject(english)).subject, /^Set a new password/)
      yield* sql`INSERT INTO settings ${
        sql.insert({ name: "site_languages", value: JSON.stringify(["fr", "en"]), updatedAt: new Date() })
      }`
      for (const french of ["worf", "anne"]) assert.match((yield* subject(french)).subject, /^Définir un nouveau mot/)
      assert.match((yield* subject("yui")).subject, /^新しい/)
      yield* sql`DELETE FROM settings WHERE name = 'site_languages'`
    }))

  it.effect("F35: staff are notified of pending users in their own languages", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const owner = Option.getOrThrow(yield* (yield* Roles).find("Owner"))
      for (const [name, locale] of [["chef", "de"], ["jefa", "es-MX"]] as const) {
        const accountId = yield* speaks(name, locale)
        yield* sql`UPDATE users SET role_id = ${owner.id} WHERE account_id = ${accountId}`
      }
      const waiting = yield* speaks("novice", "ja")
      yield* sql`UPDATE users SET approved = false, reason = '{name} <b>' WHERE account_id = ${waiting}`
      yield* Effect.flatMap(PromisedEmails, ({ promise }) => promise("sign_up", waiting)).pipe(
        Effect.provide(PromisedEmails.layer)
      )
      const letters = [yield* Postbox.next, yield* Postbox.next]
      assert.match(letters.find(({ to }) => to.startsWith("chef"))?.subject ?? "", /^novice möchte ein Konto/)
      assert.include(letters.find(({ to }) => to.startsWith("jefa"))?.text ?? "", "Motivo para unirse:\n{name} <b>")
    }))

  it.effect("F35: signed-in users read in their own language, and forms respond in the requested one", () =>
    Effect.gen(function*() {
      yield* speaks("chloe", "fr")
      const app = yield* client("read write admin:read")
      const browser = TestBrowser.make()
      const page = yield* browser.get("/auth/sign_in?lang=es")
      const wrong = yield* browser.submit(page, { email: "chloe@mail.example", password: "wrong" })
      assert.strictEqual(wrong.status, 422)
      assert.include(wrong.text, "Dirección de correo o contraseña incorrecta.")
      assert.strictEqual((yield* browser.signIn("chloe")).status, 302)
      const query = new URLSearchParams({
        client_id: app.clientId,
        redirect_uri: app.redirectUri,
        response_type: "code",
        scope: "read write admin:read"
      })
      const consent = (yield* browser.get(`/oauth/authorize?${query}`)).text
      assert.include(consent, `<html lang="fr">`)
      for (
        const words of ["Autoriser Test app à utiliser votre compte ?", "lecture et écriture", "Administration : tout"]
      ) {
        assert.include(consent, words)
      }
      assert.include(
        (yield* browser.get("/oauth/authorized_applications")).text,
        "Aucune application n’a accès à votre compte"
      )
      const german = (yield* browser.get(`/oauth/authorize?${query}&lang=de`)).text
      assert.include(german, `<html lang="de">`)
      assert.include(german, `action="/oauth/authorize?lang=de"`)
      // A form of another site is refused in the user's language.
      const { text } = yield* get("/oauth/authorize?client_id=x&lang=pt")
      assert.include(text, "aplicativo desconhecido")
    }))
})
