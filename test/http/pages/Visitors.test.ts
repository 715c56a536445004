import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { call } from "../../support/Api.ts"
import { TestServer } from "../../support/Server.ts"

layer(TestServer.layer({ PUBLIC_TIMELINES: "members" }), { excludeTestServices: true })(
  "pages for readers of every language",
  (it) => {
    it.effect("F35: pages are in the reader's language: by address, by setting, by browser", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const { createPerson, fetch } = yield* TestServer
        const ada = yield* createPerson("linguist")
        const { body: posted } = yield* call("POST", "/api/v1/statuses", ada.token, {
          status: "Good morning #words",
          poll: { options: ["yes", "no"], expires_in: 300 }
        })
        const asked = Effect.fnUntraced(function*(path: string, language = "") {
          const headers = { accept: "text/html", "accept-language": language }
          const response = yield* fetch(path, { headers })
          const text = yield* Effect.promise(() => response.text())
          assert.strictEqual(response.headers.get("content-language"), /<html lang="([^"]+)">/.exec(text)?.[1], path)
          assert.match(response.headers.get("vary") ?? "", /Accept-Language/, path)
          return text
        })
        const thread = new URL(posted.url).pathname
        for (
          const [path, german] of [
            ["/", "in diesem Monat aktiv"],
            ["/about", "Dieser Server wurde noch nicht beschrieben."],
            ["/privacy-policy", "Datenschutzerklärung"],
            ["/terms-of-service", "Seite nicht gefunden"],
            ["/@linguist", "Beiträge"],
            ["/@linguist/tagged/words", "Beiträge mit <bdi>#words</bdi>"],
            [thread, "0 Personen haben abgestimmt"],
            ["/tags/words", "Nur für Mitglieder"],
            ["/@nobody", "Seite nicht gefunden"],
            ["/nowhere", "Zur Startseite"],
            ["/auth/sign_in", "Passwort vergessen?"],
            ["/auth/password/new", "E-Mail senden"],
            ["/auth/password/edit?reset_password_token=x", "Neuen Link anfordern"],
            ["/auth/confirmation/new", "E-Mail-Adresse, mit der du dich registriert hast"],
            ["/auth/confirmation?confirmation_token=x", "älter als zwei Tage"],
            ["/oauth/authorize?client_id=nobody", "unbekannte App"],
            ["/oauth/authorize/native?code=x", "Kopiere diesen Code"]
          ] as const
        ) {
          assert.include(yield* asked(path, "de-AT, en;q=0.1"), german, path)
          for (const english of ["", "*", "en-GB, de;q=0.9", "tlh"]) {
            assert.include(yield* asked(path, english), `<html lang="en">`, path)
          }
        }
        assert.include(yield* asked(thread, "ja"), "返信0件")
        // Forms and links keep the requested language, also through an app that leads to the sign-in.
        assert.include(yield* asked("/auth/sign_in?lang=ja", "de"), `action="/auth/sign_in?lang=ja"`)
        const back = new URLSearchParams({ return_to: "/oauth/authorize?client_id=x&lang=zh-CN" })
        assert.include(yield* asked(`/auth/sign_in?${back}`, "de"), `href="/auth/password/new?lang=zh-CN"`)
        assert.include(yield* asked(`/auth/sign_in?lang=${"x".repeat(2_000)}`, "fr"), "Mot de passe oublié")
        yield* sql`INSERT INTO settings ${
          sql.insert({ name: "site_languages", value: JSON.stringify(["pt-BR", "en"]), updatedAt: new Date() })
        }`
        assert.include(yield* asked("/auth/sign_in", "tlh"), "Esqueceu sua senha?")
        yield* sql`DELETE FROM settings WHERE name = 'site_languages'`
      }))
  }
)
