import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { Rule } from "../../../../src/http/wire/Instance.ts"
import { ask } from "../../../support/Api.ts"
import { TestServer } from "../../../support/Server.ts"
import { auditEntries, staffMember } from "../../../support/Staff.ts"

const path = "/api/v1/admin/rules"

layer(TestServer.layer(), { excludeTestServices: true })("rules in the API", (it) => {
  it.effect("S-235: are written in several languages, moved and removed, with audit log entries", () =>
    Effect.gen(function*() {
      const by = yield* staffMember("ruler", ["manageRules"])
      const shown = Effect.map(ask(undefined, "GET", "/api/v1/instance/rules"), ({ body }) => body)
      const texts = Effect.map(shown, (all) => all.map(({ text }: { readonly text: string }) => text))
      const { body: kind } = yield* ask(by, "POST", path, {
        text: "Be kind",
        hint: "To all",
        translations: { de: { text: "Sei nett" }, fr: { text: "Soyez gentils", hint: "Avec tous" } }
      })
      yield* Schema.decodeUnknownEffect(Rule)(kind, { onExcessProperty: "error" })
      yield* ask(by, "POST", path, { text: "Be brief", position: 1 })
      assert.deepStrictEqual(yield* texts, ["Be brief", "Be kind"])
      assert.deepStrictEqual((yield* ask(by, "GET", path)).body, yield* shown)
      const { body: changed } = yield* ask(by, "PUT", `${path}/${kind.id}`, {
        hint: "",
        position: 1,
        translations: { de: { text: "" }, "pt-BR": { text: "Seja gentil" } }
      })
      assert.deepStrictEqual(changed, {
        id: kind.id,
        text: "Be kind",
        hint: "",
        translations: {
          fr: { text: "Soyez gentils", hint: "Avec tous" },
          "pt-BR": { text: "Seja gentil", hint: "" }
        }
      })
      assert.deepStrictEqual(yield* texts, ["Be kind", "Be brief"])
      assert.deepStrictEqual((yield* ask(by, "DELETE", `${path}/${kind.id}`)).body, {})
      assert.deepStrictEqual(yield* texts, ["Be brief"])
      for (const method of ["PUT", "PATCH", "DELETE"]) {
        assert.strictEqual((yield* ask(by, method, `${path}/${kind.id}`, { text: "Again" })).status, 404, method)
      }
      const wrong: ReadonlyArray<object> = [
        {},
        { text: " " },
        { text: "x".repeat(301) },
        { text: "x", hint: "x".repeat(1_001) },
        { text: "x", translations: { "not a tag": { text: "x" } } },
        { text: "x", translations: { de: { text: "x".repeat(301) } } }
      ]
      for (const given of wrong) {
        assert.strictEqual((yield* ask(by, "POST", path, given)).status, 422, JSON.stringify(given).slice(0, 60))
      }
      const acts = (yield* auditEntries(by.accountId)).map(({ act, targetLabel }) => `${act} ${targetLabel}`)
      assert.deepStrictEqual(acts, [
        "rule destroy Be kind",
        "rule update Be kind",
        "rule create Be brief",
        "rule create Be kind"
      ])
    }))
})
