import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { ask } from "../../support/Api.ts"
import { draftsOf, pathOf, statusesOf, textOf } from "../../support/Composer.ts"
import { TestServer } from "../../support/Server.ts"
import { staffBrowser } from "../../support/StaffBrowser.ts"
import { formsOf, type Page } from "../../support/TestBrowser.ts"

layer(TestServer.layer(), { excludeTestServices: true })(
  "unsent posts: threads, drafts, scheduled posts, ended sessions",
  (it) => {
    it.effect("publishes a thread, and keeps the rest of it after a refusal in the middle", () =>
      Effect.gen(function*() {
        const { createPerson } = yield* TestServer
        const jana = yield* createPerson("jana")
        const browser = yield* staffBrowser(jana)
        const origin = (yield* TestServer).baseUrl
        const send = Effect.fnUntraced(function*(page: Page, act: string, texts: ReadonlyArray<string>, more = {}) {
          const form = formsOf(page).find(({ acts }) => acts.includes("post"))!
          const [text = "", ...others] = texts
          const body = new URLSearchParams({ ...form.fields, act, text, visibility: "public", ...more })
          for (const other of others) body.append("more[]", other)
          return yield* browser.request(form.action, { method: "POST", body, headers: { origin } })
        })
        const page = yield* send(yield* browser.get("/publish"), "add_post", ["one"])
        assert.strictEqual([...page.text.matchAll(/<textarea name="more\[\]"/g)].length, 1)
        assert.strictEqual((yield* send(page, "post", ["one", "two", "three"])).status, 303)
        const [three, two, one] = yield* statusesOf(jana)
        assert.deepStrictEqual([three!["in_reply_to_id"], two!["in_reply_to_id"]], [two!["id"], one!["id"]])
        const refused = yield* send(yield* browser.get("/publish"), "post", ["four", "x".repeat(501), "six"])
        assert.strictEqual(refused.status, 422)
        assert.include(refused.text, "Only the first posts of the thread were published.")
        assert.notMatch(refused.text, />four<\/textarea>/)
        assert.strictEqual((yield* send(refused, "post", ["five", "six"])).status, 303)
        const after = yield* statusesOf(jana)
        assert.deepStrictEqual(after.slice(0, 3).map(textOf), ["six", "five", "four"])
        assert.strictEqual(after[1]!["in_reply_to_id"], after[2]!["id"])
        assert.deepStrictEqual(yield* draftsOf(jana), [])
        const scheduled = yield* send(yield* browser.get("/publish"), "post", ["a", "b"], { at: "2090-01-01T10:00" })
        assert.include(scheduled.text, "A thread cannot be scheduled")
      }))

    it.effect("schedules in a time zone; scheduled posts are moved, edited, published and deleted", () =>
      Effect.gen(function*() {
        const { createPerson } = yield* TestServer
        const karl = yield* createPerson("karl")
        const browser = yield* staffBrowser(karl)
        const schedule = Effect.fnUntraced(function*(text: string) {
          const page = yield* browser.get("/publish")
          return yield* browser.press(page, "post", {
            text,
            visibility: "public",
            at: "2090-07-01T10:00",
            zone: "Europe/Berlin"
          })
        })
        assert.strictEqual(pathOf(yield* schedule("later")), "/scheduled")
        const pending = () => ask(karl, "GET", "/api/v1/scheduled_statuses")
        assert.strictEqual((yield* pending()).body[0].scheduled_at, "2090-07-01T08:00:00.000Z")
        yield* browser.press(yield* browser.get("/scheduled"), "reschedule", { at: "2090-07-02T10:00" })
        assert.strictEqual((yield* pending()).body[0].scheduled_at, "2090-07-02T10:00:00.000Z")
        const edit = yield* browser.press(yield* browser.get("/scheduled"), "edit")
        const page = yield* browser.get(pathOf(edit))
        assert.match(page.text, />later<\/textarea>/)
        assert.include(page.text, `value="2090-07-02T10:00"`)
        assert.deepStrictEqual((yield* pending()).body, [])
        yield* browser.press(page, "post", { text: "much later", visibility: "public", at: "2090-07-03T10:00" })
        assert.containsSubset((yield* pending()).body, [{ params: { text: "much later" } }])
        yield* browser.press(yield* browser.get("/scheduled"), "publish")
        assert.strictEqual(textOf((yield* statusesOf(karl))[0]!), "much later")
        yield* schedule("never")
        yield* browser.press(yield* browser.get("/scheduled"), "delete")
        assert.deepStrictEqual((yield* pending()).body, [])
        const past = yield* browser.press(yield* browser.get("/publish"), "post", {
          text: "when?",
          at: "nonsense",
          visibility: "public"
        })
        assert.strictEqual(past.status, 422)
        assert.match(past.text, />when\?<\/textarea>/)
      }))

    it.effect("keeps drafts on the server: by button and by script, with what only apps know", () =>
      Effect.gen(function*() {
        const { createPerson } = yield* TestServer
        const lena = yield* createPerson("lena")
        const browser = yield* staffBrowser(lena)
        const saved = yield* browser.press(yield* browser.get("/publish"), "save", {
          text: "a draft",
          visibility: "unlisted"
        })
        const page = yield* browser.get(pathOf(saved))
        assert.match(page.text, />a draft<\/textarea>/)
        assert.match(page.text, /<option value="unlisted" selected>/)
        const fresh = yield* browser.get("/publish")
        assert.include(fresh.text, "You have an unsent draft.")
        // A script's save returns the draft and the count; saving twice makes one draft.
        const form = formsOf(fresh).find(({ acts }) => acts.includes("post"))!
        const origin = (yield* TestServer).baseUrl
        const send = (text: string) =>
          browser.request(form.action, {
            method: "POST",
            body: new URLSearchParams({ ...form.fields, act: "autosave", text, visibility: "public" }),
            headers: { origin }
          })
        const first = JSON.parse((yield* send("typing")).text)
        assert.deepStrictEqual(first.left, [494])
        assert.strictEqual(JSON.parse((yield* send("typing on")).text).draft, first.draft)
        const drafts = yield* draftsOf(lena)
        assert.strictEqual(drafts.length, 2)
        assert.strictEqual(drafts.find(({ id }) => id === first.draft)?.params["text"], "typing on")
        assert.strictEqual(JSON.parse((yield* send(" ")).text).draft, null)
        yield* ask(lena, "PUT", `/api/v1/drafts/${first.draft}`, { status: "by an app", content_type: "text/markdown" })
        const opened = yield* browser.get(`/publish?draft=${first.draft}`)
        yield* browser.press(opened, "save", { text: "*by both*", visibility: "public" })
        assert.strictEqual(
          (yield* draftsOf(lena)).find(({ id }) => id === first.draft)?.params["content_type"],
          "text/markdown"
        )
        const list = yield* browser.get("/drafts")
        assert.include(list.text, "*by both*")
        yield* browser.press(list, "publish")
        yield* browser.press(yield* browser.get("/drafts"), "delete")
        assert.deepStrictEqual(yield* draftsOf(lena), [])
        assert.strictEqual((yield* statusesOf(lena)).length, 1)
      }))

    it.effect("keeps the text of an ended session, and posts it after a new sign-in", () =>
      Effect.gen(function*() {
        const { createPerson } = yield* TestServer
        const mara = yield* createPerson("mara")
        const browser = yield* staffBrowser(mara)
        const page = yield* browser.get("/publish")
        const session = [...browser.cookies.keys()].find((name) => name.endsWith("session"))!
        browser.cookies.delete(session)
        const away = yield* browser.press(page, "post", {
          text: "Not <lost>",
          spoiler_text: "cw",
          visibility: "unlisted"
        })
        assert.strictEqual(away.status, 403)
        assert.match(away.text, />Not &lt;lost&gt;<\/textarea>/)
        assert.include(away.text, "You were signed out.")
        // Nothing is lost without a sign-in either.
        const still = yield* browser.submit(away, { text: "Not <lost>" })
        assert.match(still.text, />Not &lt;lost&gt;<\/textarea>/)
        yield* browser.signIn("mara", undefined, mara.password)
        const form = formsOf(away).find(({ action }) => action === "/web/compose/kept")!
        const body = new URLSearchParams({ ...form.fields, text: "Not <lost>" })
        const again = yield* browser.request(form.action, {
          method: "POST",
          body,
          headers: { origin: (yield* TestServer).baseUrl }
        })
        assert.strictEqual(again.status, 200)
        assert.include(again.text, `value="cw"`)
        assert.match(again.text, /<option value="unlisted" selected>/)
        yield* browser.press(again, "post", { text: "Not <lost>", visibility: "unlisted" })
        assert.strictEqual((yield* statusesOf(mara)).length, 1)
        // A form from before the new session posts nothing by itself.
        const stale = yield* browser.press(page, "post", { text: "old form", visibility: "public" })
        assert.strictEqual(stale.status, 403)
        assert.include(stale.text, "old form")
      }))

    it.effect("an edit and a redraft keep the post's visibility, quote policy and markup", () =>
      Effect.gen(function*() {
        const { createPerson } = yield* TestServer
        const nora = yield* createPerson("nora")
        const browser = yield* staffBrowser(nora)
        const { body: post } = yield* ask(nora, "POST", "/api/v1/statuses", {
          status: "*ours*",
          content_type: "text/markdown",
          local_only: true,
          quote_approval_policy: "nobody"
        })
        const edit = yield* browser.get(`/publish?edit=${post.id}`)
        assert.match(edit.text, /<option value="nobody" selected>/)
        yield* browser.press(edit, "post", { text: "*ours* still", quote_policy: "nobody" })
        const { body: edited } = yield* ask(nora, "GET", `/api/v1/statuses/${post.id}`)
        assert.deepStrictEqual(edited.quote_approval.automatic, [])
        assert.include(edited.content, "<em>ours</em> still")
        const redraft = yield* browser.press(yield* browser.get(`/publish?edit=${post.id}`), "redraft")
        const opened = yield* browser.get(pathOf(redraft))
        assert.match(opened.text, /<option value="local" selected>/)
        assert.match(opened.text, /<option value="nobody" selected>/)
        yield* browser.press(opened, "post", { text: "*ours* again", visibility: "local", quote_policy: "nobody" })
        const [again] = yield* statusesOf(nora)
        assert.deepStrictEqual([again!["local_only"], again!["visibility"]], [true, "public"])
        assert.include(String(again!["content"]), "<em>ours</em> again")
      }))

    it.effect("a draft that is published twice exists once, and the second press reports it", () =>
      Effect.gen(function*() {
        const { createPerson } = yield* TestServer
        const olaf = yield* createPerson("olaf")
        const browser = yield* staffBrowser(olaf)
        yield* browser.press(yield* browser.get("/publish"), "save", { text: "once", visibility: "public" })
        const list = yield* browser.get("/drafts")
        yield* browser.press(list, "publish")
        const second = yield* browser.press(list, "publish")
        assert.strictEqual(second.status, 303)
        assert.include((yield* browser.get("/drafts")).text, "This post was already published or deleted.")
        assert.strictEqual((yield* statusesOf(olaf)).length, 1)
      }))
  }
)
