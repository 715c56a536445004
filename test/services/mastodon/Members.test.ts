import { assert, layer } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import { SqlClient } from "effect/sql"
import { idOf, servers, source, transfer, transferred } from "../../support/mastodon/Copies.ts"
import { sealed } from "../../support/mastodon/Server.ts"
import { TestServer } from "../../support/Server.ts"

const secret = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"

layer(servers, { excludeTestServices: true })("members of a Mastodon server", (it) => {
  it.effect("F463: keep their settings, also those that they changed since the copy", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const from = yield* source("4.5")
      const settings = (policy: string, privacy: string, flag: boolean) =>
        JSON.stringify({
          ["default_quote_policy"]: policy,
          ["default_privacy"]: privacy,
          ["default_sensitive"]: flag,
          ["default_language"]: flag ? "de" : "fr",
          ["show_application"]: !flag,
          noindex: flag,
          ["web.display_media"]: flag ? "hide_all" : "show_all",
          ["web.expand_content_warnings"]: flag,
          ["web.auto_play"]: flag
        })
      const ada = yield* from.person(idOf(1), "ada", {
        user: { settings: settings("followers", "unlisted", false), chosenLanguages: ["fr"], locale: "fr" }
      })
      yield* from.person(idOf(2), "ben", { user: { settings: settings("anyone", "unlisted", false) } })
      const stored =
        sql`SELECT default_quote_policy, default_visibility, default_sensitive, default_language, chosen_languages,
          show_application, noindex, expand_media, expand_spoilers, autoplay_gifs, locale, time_zone, unconfirmed_email,
          age_verified_at IS NOT NULL AS verified FROM users WHERE account_id = ${ada.id}`
      yield* transferred(from, "copy")
      assert.deepStrictEqual(yield* stored, [{
        defaultQuotePolicy: "followers",
        defaultVisibility: "unlisted",
        defaultSensitive: false,
        defaultLanguage: "fr",
        chosenLanguages: ["fr"],
        showApplication: true,
        noindex: false,
        expandMedia: "show_all",
        expandSpoilers: false,
        autoplayGifs: false,
        locale: "fr",
        timeZone: null,
        unconfirmedEmail: null,
        verified: false
      }])
      const unknown = sql`SELECT default_quote_policy FROM users WHERE account_id = ${idOf(2)}`
      assert.deepStrictEqual(yield* unknown, [{ defaultQuotePolicy: "public" }])
      const at = new Date()
      yield* from.sql`UPDATE users SET ${
        from.sql.update({
          settings: settings("nobody", "private", true),
          locale: "de",
          timeZone: "Europe/Berlin",
          unconfirmedEmail: "next@mail.example",
          ageVerifiedAt: at,
          updatedAt: at
        })
      }, chosen_languages = ARRAY['de', 'en'] WHERE account_id = ${ada.id}`
      yield* transferred(from, "delta")
      assert.deepStrictEqual(yield* stored, [{
        defaultQuotePolicy: "nobody",
        defaultVisibility: "private",
        defaultSensitive: true,
        defaultLanguage: "de",
        chosenLanguages: ["de", "en"],
        showApplication: false,
        noindex: true,
        expandMedia: "hide_all",
        expandSpoilers: true,
        autoplayGifs: true,
        locale: "de",
        timeZone: "Europe/Berlin",
        unconfirmedEmail: "next@mail.example",
        verified: true
      }])
    }))

  it.effect("F462: a plan names the members whom missing or other encryption keys would lock out, and a copy does not start", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const sql = yield* SqlClient.SqlClient
      const { baseUrl } = yield* TestServer
      const lines = (name: string, text: string) => (folder: string) => fs.writeFileString(`${folder}/${name}`, text)
      const domain = `LOCAL_DOMAIN=${new URL(baseUrl).host}\n`
      const other =
        `${domain}ACTIVE_RECORD_ENCRYPTION_PRIMARY_KEY=other\nACTIVE_RECORD_ENCRYPTION_KEY_DERIVATION_SALT=x\n`
      const factor = (otpSecret: string) => ({ user: { otpRequiredForLogin: true, otpSecret } })
      for (const version of ["4.3", "4.7"] as const) {
        yield* sql`DELETE FROM transfer_cursors WHERE step <> 'roles'`
        const from = yield* source(version)
        yield* from.person(idOf(11), "one", factor(sealed(secret, "sha1")))
        yield* from.person(idOf(12), "two", factor(sealed(secret)))
        yield* lines("missing", domain)(from.folder)
        yield* lines("other", other)(from.folder)
        for (const name of ["missing", "other"]) {
          for (const command of ["plan", "copy"]) {
            const refused = yield* transfer({ ...from, env: `${from.folder}/${name}` }, command)
            assert.strictEqual(refused.code, 1, `${version} ${name} ${command}`)
            const isLacking = version === "4.7" && name === "missing"
            assert.include(
              refused.err,
              isLacking ? "The environment file lacks" : "members who use it could not sign in (2)"
            )
            if (version === "4.7" && name === "other") {
              assert.include(refused.err, "do not decrypt the keys of 2 local accounts")
            }
          }
        }
        assert.strictEqual((yield* transfer(from, "plan")).code, 0, "the right variables")
        // A single damaged row is recorded by the copy; it says nothing about the variables.
        yield* from.sql`UPDATE users SET otp_secret = 'damaged' WHERE account_id = ${idOf(11)}`
        assert.strictEqual((yield* transfer(from, "plan")).code, 0, "one damaged row")
      }
    }))
})
