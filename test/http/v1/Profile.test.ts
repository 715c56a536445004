import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { AccountActors } from "../../../src/actors/account/core/AccountActors.ts"
import { AccountViews } from "../../../src/http/render/AccountViews.ts"
import { StatusViews } from "../../../src/http/render/StatusViews.ts"
import { Profile } from "../../../src/http/wire/Account.ts"
import { AppId, StatusId } from "../../../src/services/database/Ids.ts"
import type { ProfileChange } from "../../../src/services/identity/ProfileChange.ts"
import { Settings } from "../../../src/services/identity/Settings.ts"
import { call } from "../../support/Api.ts"
import { blob, form, picture } from "../../support/MediaFiles.ts"
import { person } from "../../support/People.ts"
import { post } from "../../support/Posts.ts"
import { type Person, TestServer } from "../../support/Server.ts"
import { server } from "../../support/WebServer.ts"

const path = "/api/v1/profile"
const shown = (by: Person) =>
  Effect.flatMap(
    call("GET", path, by.token),
    ({ body }) => Schema.decodeUnknownEffect(Profile)(body, { onExcessProperty: "error" })
  )

layer(TestServer.layer(), { excludeTestServices: true })("the user's own profile", (it) => {
  it.effect("S-138, S-230: is read as written, and changed by PATCH and PUT with its rendering", () =>
    Effect.gen(function*() {
      const { createPerson, createToken } = yield* TestServer
      const anna = yield* createPerson("anna")
      const fresh = yield* shown(anna)
      assert.deepInclude(fresh, { display_name: "", note: "", avatar: null, header: null, show_media: true })
      yield* call("POST", "/api/v1/featured_tags", anna.token, { name: "Cats" })
      const changes = {
        display_name: "Anna",
        note: "I am <b> #me",
        show_media: "false",
        show_media_replies: false,
        show_featured: "0",
        attribution_domains: ["example.org"],
        fields_attributes: { 0: { name: "site", value: "https://example.org" } }
      }
      for (const method of ["PATCH", "PUT"]) {
        const { body, status } = yield* call(method, path, anna.token, changes)
        assert.strictEqual(status, 200)
        assert.deepInclude(yield* Schema.decodeUnknownEffect(Profile)(body, { onExcessProperty: "error" }), {
          id: String(anna.accountId),
          display_name: "Anna",
          note: "I am <b> #me",
          show_media: false,
          show_media_replies: false,
          show_featured: false,
          attribution_domains: ["example.org"],
          fields: [{ name: "site", value: "https://example.org", verified_at: null }]
        })
        assert.include(body.formatted_note, "&lt;b&gt;")
        assert.include(body.formatted_fields[0].value, "<a href")
        assert.deepStrictEqual(body.featured_tags.map(({ name }: { readonly name: string }) => name), ["Cats"])
      }
      const account = yield* call("GET", `/api/v1/accounts/${anna.accountId}`, undefined)
      assert.deepInclude(account.body, { show_media: false, show_featured: false, noindex: false })

      const bytes = yield* Effect.promise(() => picture().png().toBuffer())
      const pictured = yield* call("PATCH", path, anna.token, form({ avatar: blob(bytes), avatar_description: "Me" }))
      assert.match(pictured.body.avatar, /^http.*\/system\//)
      assert.strictEqual(pictured.body.avatar_description, "Me")
      const removed = yield* call("DELETE", `${path}/avatar`, anna.token)
      assert.include(removed.body.avatar, "missing.png")
      assert.deepInclude(yield* shown(anna), { avatar: null, avatar_static: null, avatar_description: "" })

      const long = yield* call("PATCH", path, anna.token, { display_name: "x".repeat(41) })
      assert.deepStrictEqual([long.status, Object.keys(long.body.details)], [422, ["display_name"]])
      const token = yield* createToken(anna.accountId, ["profile"])
      assert.strictEqual((yield* call("GET", path, token)).status, 200)
      assert.strictEqual((yield* call("PATCH", path, token, { note: "x" })).status, 403)
      assert.strictEqual((yield* call("GET", path, undefined)).status, 401)
    }))
})

const members = Layer.merge(AccountViews.layer, StatusViews.layer).pipe(Layer.provideMerge(server()))

layer(members, { excludeTestServices: true })("settings of a member", (it) => {
  it.effect("are changed by its actor: formatting, visibility to others, and languages of public timelines", () =>
    Effect.gen(function*() {
      const { tell } = yield* AccountActors
      const sql = yield* SqlClient.SqlClient
      const [statuses, accounts] = [yield* StatusViews, yield* AccountViews]
      const [writer, reader] = [yield* person("writer3"), yield* person("reader3")]
      const settings = Effect.flatMap(Settings, ({ of }) => of(writer))
      const change = (values: ProfileChange) => tell(writer, { _tag: "UpdateProfile", change: values })
      assert.deepInclude(yield* settings, { chosenLanguages: [], showApplication: true, noindex: false })

      yield* sql`INSERT INTO oauth_apps (id, client_id, client_secret_hash, name, redirect_uris, scopes, created_at)
        VALUES (7, 'client7', '', 'Tuna', '{}', 'read', ${new Date()})`
      const { id } = yield* tell(writer, { _tag: "Publish", post: { ...post("Hello"), applicationId: AppId.make(7n) } })
      const statusId = StatusId.make(BigInt(id))
      const application = Effect.map(
        statuses.renderOne(reader, statusId),
        (text) => /"application":(\{[^}]*\})/.exec(text)?.[1]
      )
      const before = yield* application

      yield* change({
        chosenLanguages: ["de", "pt-BR"],
        showApplication: false,
        noindex: true,
        expandMedia: "hide_all",
        expandSpoilers: true,
        autoplayGifs: true
      })
      assert.deepInclude(yield* settings, {
        chosenLanguages: ["de", "pt-BR"],
        showApplication: false,
        noindex: true,
        expandMedia: "hide_all",
        expandSpoilers: true,
        autoplayGifs: true
      })
      assert.include(before, "Tuna")
      assert.isUndefined(yield* application)
      assert.include(yield* accounts.renderOne(writer), "\"noindex\":true")
      yield* change({ noindex: false, showApplication: true, chosenLanguages: [] })
      assert.deepStrictEqual(yield* application, before)
      assert.include(yield* accounts.renderOne(writer), "\"noindex\":false")

      yield* change({ chosenLanguages: ["DE", "pt_BR", "de"] })
      assert.deepInclude(yield* settings, { chosenLanguages: ["de", "pt-BR"] }, "F71: as posts have them")

      for (const chosenLanguages of [["no language"], Array<string>(300).fill("de")]) {
        const refused = yield* Effect.flip(change({ chosenLanguages }))
        assert.strictEqual(refused._tag, "Unprocessable")
      }
    }))
})
