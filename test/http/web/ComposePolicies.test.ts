import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { ask, newPerson, publishedId } from "../../support/Api.ts"
import { draftsOf, pathOf, statusesOf } from "../../support/Composer.ts"
import { type Person, TestServer } from "../../support/Server.ts"
import { staffBrowser } from "../../support/StaffBrowser.ts"

/** Returns the interaction policy of the newest post. */
const policyOf = (by: Person) => Effect.map(statusesOf(by), ([post]) => post!["interaction_policy"])
const rules = (automatic: ReadonlyArray<string>, manual: ReadonlyArray<string> = []) => ({
  automatic_approval: automatic,
  manual_approval: manual,
  always: automatic,
  with_approval: manual
})
const selected = (text: string, name: string) =>
  new RegExp(`<select name="${name}">(?:(?!</select>).)*<option value="([^"]*)" selected>`, "s").exec(text)?.[1]

layer(TestServer.layer(), { excludeTestServices: true })(
  "interaction policies in the composer",
  (it) => {
    it.effect("the choices become the post's policy; omitted ones are the member's defaults for the visibility", () =>
      Effect.gen(function*() {
        const ada = yield* newPerson("ada")
        const browser = yield* staffBrowser(ada)
        yield* ask(ada, "PATCH", "/api/v1/interaction_policies/defaults", {
          unlisted: { can_reblog: { automatic_approval: ["mutuals"], manual_approval: [] } }
        })
        const page = yield* browser.get("/publish")
        assert.strictEqual(selected(page.text, "canReply"), "")
        const choices = { canReply: "followers", canReply_ask: "1", canLike: "", canAnnounce: "" }
        yield* browser.press(page, "post", { text: "careful", visibility: "unlisted", ...choices })
        assert.deepStrictEqual(yield* policyOf(ada), {
          can_favourite: rules(["public", "me"]),
          can_reply: rules(["followers", "author", "mentioned", "me"], ["public"]),
          can_reblog: rules(["mutuals", "author", "me"])
        })
        // Without a choice, the defaults at the time of publishing apply.
        yield* browser.press(yield* browser.get("/publish"), "post", {
          text: "as ever",
          visibility: "unlisted",
          canReply: "",
          canLike: "",
          canAnnounce: ""
        })
        assert.deepStrictEqual(yield* policyOf(ada), {
          can_favourite: rules(["public", "me"]),
          can_reply: rules(["public", "me"]),
          can_reblog: rules(["mutuals", "author", "me"])
        })
      }))

    it.effect("a draft, a scheduled post, a redraft and an edit keep the policy, and a default can be chosen again", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const bea = yield* newPerson("bea")
        const browser = yield* staffBrowser(bea)
        const choices = { canReply: "author", canLike: "public", canAnnounce: "following" }
        const saved = yield* browser.press(yield* browser.get("/publish"), "save", {
          text: "kept",
          visibility: "public",
          ...choices
        })
        const draft = yield* browser.get(pathOf(saved))
        assert.deepStrictEqual(
          ["canReply", "canLike", "canAnnounce"].map((name) => selected(draft.text, name)),
          ["author", "public", "following"]
        )
        // The preview and the form after it have the same choices.
        const preview = yield* browser.press(draft, "preview", { text: "kept", visibility: "public", ...choices })
        assert.strictEqual(selected(preview.text, "canAnnounce"), "following")
        // Home's short form has no such fields.
        yield* browser.press(draft, "save", { text: "kept by Home", visibility: "public" })
        const scheduled = yield* browser.press(yield* browser.get(pathOf(saved)), "post", {
          text: "later",
          visibility: "public",
          at: "2099-01-01T10:00",
          ...choices
        })
        assert.strictEqual(scheduled.status, 303, scheduled.text)
        const [row] = yield* sql<{ words: ReadonlyArray<string> }>`
        SELECT params -> 'interactionPolicy' AS words FROM scheduled_statuses WHERE account_id = ${bea.accountId}`
        assert.deepStrictEqual(row?.words, ["canReply", "canAnnounce", "canAnnounce:automatic:following"])

        yield* browser.press(yield* browser.get("/publish"), "post", { text: "now", visibility: "public", ...choices })
        const [post] = yield* statusesOf(bea)
        const restricted = yield* policyOf(bea)
        const edit = yield* browser.get(`/publish?edit=${post!["id"]}`)
        assert.strictEqual(selected(edit.text, "canReply"), "author")
        assert.notInclude(edit.text, "As in your settings")
        yield* browser.press(edit, "post", { text: "now!", ...choices })
        assert.deepStrictEqual(yield* policyOf(bea), restricted)
        yield* browser.press(edit, "post", { text: "now?", ...choices, canReply: "public" })
        assert.notDeepEqual(yield* policyOf(bea), restricted)
        const redraft = yield* browser.press(yield* browser.get(`/publish?edit=${post!["id"]}`), "redraft")
        const opened = yield* browser.get(pathOf(redraft))
        assert.deepStrictEqual(
          ["canReply", "canLike", "canAnnounce"].map((name) => selected(opened.text, name)),
          ["public", "public", "following"]
        )
        yield* browser.press(opened, "save", {
          text: "x",
          visibility: "public",
          canReply: "",
          canLike: "",
          canAnnounce: ""
        })
        const reopened = yield* browser.get(pathOf(redraft))
        assert.strictEqual(selected(reopened.text, "canAnnounce"), "")
        assert.isAbove((yield* draftsOf(bea)).length, 0)
      }))

    it.effect("a policy that only apps can set is unchanged, and a choice that was not offered is refused, keeping the text", () =>
      Effect.gen(function*() {
        const { baseUrl } = yield* TestServer
        const cleo = yield* newPerson("cleo")
        const browser = yield* staffBrowser(cleo)
        const id = yield* publishedId(cleo, "for some", {
          interaction_policy: {
            can_reply: { automatic_approval: ["followers", "mutuals"], manual_approval: [`${baseUrl}/users/cleo`] }
          }
        })
        const before = yield* policyOf(cleo)
        const edit = yield* browser.get(`/publish?edit=${id}`)
        assert.include(edit.text, "As set in an app")
        const canReply = selected(edit.text, "canReply")!
        yield* browser.press(edit, "post", { text: "for some!", canReply, canLike: "followers", canAnnounce: "public" })
        const after = yield* policyOf(cleo)
        assert.deepStrictEqual(Reflect.get(Object(after), "can_reply"), Reflect.get(Object(before), "can_reply"))
        assert.notDeepEqual(after, before)
        for (const wrong of ["canLike:automatic:public", "nobody", "canReplyx", " "]) {
          const refused = yield* browser.press(yield* browser.get("/publish"), "post", {
            text: "typed <in full>",
            visibility: "public",
            canReply: wrong,
            canLike: "",
            canAnnounce: ""
          })
          assert.strictEqual(refused.status, 422, wrong)
          assert.include(refused.text, "typed &lt;in full&gt;")
        }
      }))
  }
)
