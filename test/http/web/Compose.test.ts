import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { ask } from "../../support/Api.ts"
import { draftsOf, pathOf, sendFile, statusesOf, textOf } from "../../support/Composer.ts"
import { blob, picture } from "../../support/MediaFiles.ts"
import { TestServer } from "../../support/Server.ts"
import { staffBrowser } from "../../support/StaffBrowser.ts"
import { formsOf, locationOf } from "../../support/TestBrowser.ts"

layer(TestServer.layer(), { excludeTestServices: true })("the composer", (it) => {
  it.effect("publishes from its page and from Home, and returns to the post", () =>
    Effect.gen(function*() {
      const { createPerson } = yield* TestServer
      const ada = yield* createPerson("ada")
      const browser = yield* staffBrowser(ada)
      const page = yield* browser.get("/publish")
      assert.strictEqual(page.status, 200)
      const done = yield* browser.press(page, "post", {
        text: "Good morning",
        spoiler_text: "A greeting",
        visibility: "unlisted",
        language: "en"
      })
      assert.strictEqual(done.status, 303, done.text)
      const [post] = yield* statusesOf(ada)
      assert.deepStrictEqual(
        [textOf(post!), post!["spoiler_text"], post!["visibility"], post!["language"]],
        ["Good morning", "A greeting", "unlisted", "en"]
      )
      assert.strictEqual(pathOf(done), `/home#status-${post!["id"]}`)
      const home = yield* browser.get("/home")
      assert.include(home.text, "Your post was published.")
      const more = yield* browser.press(home, "more", { text: "Half a sentence", visibility: "private" })
      assert.strictEqual(more.status, 200)
      assert.match(more.text, />Half a sentence<\/textarea>/)
      assert.match(more.text, /<option value="private" selected>/)
      yield* browser.press(more, "post", { text: "A whole sentence", visibility: "private" })
      assert.strictEqual((yield* statusesOf(ada))[0]!["visibility"], "private")
    }))

  it.effect("posts once for a repeated press, and again for another text", () =>
    Effect.gen(function*() {
      const { createPerson } = yield* TestServer
      const bob = yield* createPerson("bob")
      const browser = yield* staffBrowser(bob)
      const page = yield* browser.get("/publish")
      const send = (text: string) => browser.press(page, "post", { text, visibility: "public" })
      yield* Effect.all([send("twice"), send("twice")], { concurrency: "unbounded" })
      yield* send("twice")
      assert.strictEqual((yield* statusesOf(bob)).length, 1)
      yield* send("something else")
      assert.strictEqual((yield* statusesOf(bob)).length, 2)
      // Drafts and threads are deduped, too.
      const saved = yield* browser.press(yield* browser.get("/publish"), "save", { text: "kept", visibility: "public" })
      const draft = yield* browser.get(pathOf(saved))
      const thread = { text: "one", "more[]": "two", visibility: "public" }
      yield* Effect.all([browser.press(draft, "post", thread), browser.press(draft, "post", thread)], {
        concurrency: "unbounded"
      })
      yield* browser.press(draft, "post", thread)
      assert.deepStrictEqual((yield* statusesOf(bob)).map(textOf).slice(0, 2), ["two", "one"])
      assert.strictEqual((yield* statusesOf(bob)).length, 4)
      assert.deepStrictEqual(yield* draftsOf(bob), [])
    }))

  it.effect("keeps all input after a refusal, and shows the count of characters", () =>
    Effect.gen(function*() {
      const { createPerson } = yield* TestServer
      const cleo = yield* createPerson("cleo")
      const browser = yield* staffBrowser(cleo)
      const text = `${"a".repeat(490)} https://example.org/${"b".repeat(100)}`
      const refused = yield* browser.press(yield* browser.get("/publish"), "post", {
        text,
        spoiler_text: "long <b>",
        visibility: "unlisted",
        language: "de",
        poll_seconds: "3600",
        poll_multiple: "1"
      })
      assert.strictEqual(refused.status, 422)
      assert.include(refused.text, `>${text}</textarea>`)
      assert.include(refused.text, `value="long &lt;b&gt;"`)
      assert.match(refused.text, /role="alert">[^<]*character limit/)
      assert.include(refused.text, "-22 characters left")
      assert.match(refused.text, /<option value="de" selected>/)
      assert.match(refused.text, /<option value="unlisted" selected>/)
      assert.deepStrictEqual(yield* statusesOf(cleo), [])
      const preview = yield* browser.press(refused, "preview", { text: "Hello #world", visibility: "public" })
      assert.match(preview.text, /class="preview panel"/)
      assert.match(preview.text, /488 characters left/)
      yield* browser.press(preview, "post", { text: "Hello #world", visibility: "public" })
      assert.strictEqual((yield* statusesOf(cleo)).length, 1)
    }))

  it.effect("uploads files by its form, keeps the text, and asks once for a description", () =>
    Effect.gen(function*() {
      const { createPerson } = yield* TestServer
      const dora = yield* createPerson("dora")
      const browser = yield* staffBrowser(dora)
      const bytes = yield* Effect.promise(() => picture(400, 300).png().toBuffer())
      const added = yield* sendFile(browser, yield* browser.get("/publish"), "add_file", { text: "Look" }, bytes)
      assert.strictEqual(added.status, 200)
      assert.match(added.text, />Look<\/textarea>/)
      const [, id = ""] = /name="files\[\]" value="(\d+)"/.exec(added.text) ?? []
      const form = { text: "Look", visibility: "public", "files[]": id }
      const asked = yield* browser.press(added, "post", form)
      assert.strictEqual(asked.status, 422)
      assert.include(asked.text, "A file has no description.")
      assert.deepStrictEqual(yield* statusesOf(dora), [])
      const done = yield* browser.press(asked, "post", {
        ...form,
        [`description_${id}`]: "A green field",
        [`focus_${id}`]: "0,1",
        sensitive: "1"
      })
      assert.strictEqual(done.status, 303)
      const [post] = yield* statusesOf(dora)
      assert.strictEqual(post!["sensitive"], true)
      assert.containsSubset(post!["media_attachments"], [{
        description: "A green field",
        meta: { focus: { x: 0, y: 1 } }
      }])
      // A file chosen with "Post" is also attached, and "Post anyway" needs no description.
      const second = yield* sendFile(browser, yield* browser.get("/publish"), "post", { text: "And this" }, bytes)
      assert.strictEqual(second.status, 422)
      const [, other = ""] = /name="files\[\]" value="(\d+)"/.exec(second.text) ?? []
      yield* browser.press(second, "post_anyway", { text: "And this", visibility: "public", "files[]": other })
      assert.strictEqual((yield* statusesOf(dora)).length, 2)
      // An invalid file keeps the text.
      const refused = yield* sendFile(
        browser,
        yield* browser.get("/publish"),
        "post",
        { text: "Broken" },
        new TextEncoder().encode("no picture")
      )
      assert.strictEqual(refused.status, 422)
      assert.match(refused.text, />Broken<\/textarea>/)
      // The script's upload returns only the file.
      const page = yield* browser.get("/publish")
      const body = new FormData()
      body.append(
        "authenticity_token",
        formsOf(page).find(({ acts }) => acts.includes("post"))!.fields["authenticity_token"]!
      )
      body.append("file", blob(bytes), "a.png")
      const part = yield* browser.request("/web/compose/files", {
        method: "POST",
        body,
        headers: { origin: (yield* TestServer).baseUrl, "x-murmuration-part": "file" }
      })
      assert.match(part.text, /^<li class="composed-file"/)
      const without = yield* browser.request("/web/compose/files", {
        method: "POST",
        body: new FormData(),
        headers: { origin: (yield* TestServer).baseUrl }
      })
      assert.strictEqual(without.status, 403)
    }))

  it.effect("makes polls from named fields", () =>
    Effect.gen(function*() {
      const { createPerson } = yield* TestServer
      const emil = yield* createPerson("emil")
      const browser = yield* staffBrowser(emil)
      const form = formsOf(yield* browser.get("/publish")).find(({ acts }) => acts.includes("post"))!
      const origin = (yield* TestServer).baseUrl
      const send = (act: string) => {
        const body = new URLSearchParams({
          ...form.fields,
          act,
          text: "Tea?",
          visibility: "public",
          poll_seconds: "3600"
        })
        for (const option of ["Yes", "No", ""]) body.append("option[]", option)
        body.append("poll_multiple", "1")
        return browser.request(form.action, { method: "POST", body, headers: { origin } })
      }
      const more = yield* send("add_option")
      assert.strictEqual([...more.text.matchAll(/name="option\[\]"/g)].length, 4)
      assert.include(more.text, `value="Yes"`)
      yield* send("post")
      assert.containsSubset((yield* statusesOf(emil))[0], {
        poll: { multiple: true, options: [{ title: "Yes" }, { title: "No" }] }
      })
    }))

  it.effect("replies with context and names, no more public than the parent, and warns", () =>
    Effect.gen(function*() {
      const { createPerson } = yield* TestServer
      const [frida, gerd] = [yield* createPerson("frida"), yield* createPerson("gerd")]
      yield* ask(gerd, "POST", `/api/v1/accounts/${frida.accountId}/follow`, {})
      const { body } = yield* ask(frida, "POST", "/api/v1/statuses", { status: "for followers", visibility: "private" })
      const browser = yield* staffBrowser(gerd)
      const page = yield* browser.get(`/publish?reply_to=${body.id}`)
      assert.include(page.text, `id="status-${body.id}"`)
      assert.match(page.text, /autofocus>@frida <\/textarea>/)
      assert.match(page.text, /<option value="private" selected>/)
      const warned = yield* browser.press(page, "post", { text: "@frida hi", visibility: "public" })
      assert.strictEqual(warned.status, 422)
      assert.include(warned.text, "Your reply is public, but the post you are replying to is not.")
      const done = yield* browser.press(warned, "post_anyway", { text: "@frida hi", visibility: "public" })
      const [reply] = yield* statusesOf(gerd)
      assert.strictEqual(reply!["in_reply_to_id"], body.id)
      assert.strictEqual(pathOf(done), `/@gerd/${reply!["id"]}`)
      const secret = yield* browser.get(`/publish?reply_to=${body.id}&private=1`)
      assert.include(secret.text, "Private reply to frida")
      assert.match(secret.text, /<option value="direct" selected>/)
    }))

  it.effect("quotes, edits and shows the versions; a redraft keeps text and files", () =>
    Effect.gen(function*() {
      const { createPerson } = yield* TestServer
      const [hans, ida] = [yield* createPerson("hans"), yield* createPerson("ida")]
      const { body: quoted } = yield* ask(ida, "POST", "/api/v1/statuses", {
        status: "quote me",
        quote_approval_policy: "public"
      })
      const browser = yield* staffBrowser(hans)
      const page = yield* browser.get(`/publish?quote=${quoted.id}`)
      assert.include(page.text, `id="status-${quoted.id}"`)
      const bytes = yield* Effect.promise(() => picture(200, 200).png().toBuffer())
      const added = yield* sendFile(browser, yield* browser.get("/publish"), "add_file", { text: "x" }, bytes)
      const [, file = ""] = /name="files\[\]" value="(\d+)"/.exec(added.text) ?? []
      yield* browser.press(page, "post", { text: "So true", visibility: "public", quote_policy: "nobody" })
      const [quoting] = yield* statusesOf(hans)
      assert.containsSubset(quoting, { quote: { state: "accepted", quoted_status: { id: quoted.id } } })
      // Edit: the form has the text; others' posts are refused.
      assert.strictEqual((yield* browser.get(`/publish?edit=${quoted.id}`)).status, 403)
      yield* browser.press(added, "post", {
        text: "With a picture",
        visibility: "public",
        "files[]": file,
        [`description_${file}`]: "red"
      })
      const [post] = yield* statusesOf(hans)
      const edit = yield* browser.get(`/publish?edit=${post!["id"]}`)
      assert.match(edit.text, />With a picture<\/textarea>/)
      const done = yield* browser.press(edit, "post", {
        text: "With a red picture",
        "files[]": file,
        [`description_${file}`]: "a red square",
        [`focus_${file}`]: ""
      })
      assert.strictEqual(pathOf(done), `/@hans/${post!["id"]}`)
      const { body: after } = yield* ask(hans, "GET", `/api/v1/statuses/${post!["id"]}`)
      assert.strictEqual(textOf(after), "With a red picture")
      assert.containsSubset(after.media_attachments, [{ id: file, description: "a red square" }])
      const history = yield* (yield* staffBrowser()).get(`/@hans/${post!["id"]}/history`)
      assert.strictEqual(history.status, 200)
      assert.include(history.text, "With a picture")
      assert.include(history.text, "With a red picture")
      assert.strictEqual((yield* browser.get(`/@ida/${post!["id"]}/history`)).status, 404)
      const redraft = yield* browser.press(yield* browser.get(`/publish?edit=${post!["id"]}`), "redraft")
      const opened = yield* browser.get(pathOf(redraft))
      assert.match(opened.text, />With a red picture<\/textarea>/)
      assert.include(opened.text, `name="files[]" value="${file}"`)
      assert.strictEqual((yield* ask(hans, "GET", `/api/v1/statuses/${post!["id"]}`)).status, 404)
      yield* browser.press(opened, "post", {
        [`description_${file}`]: "red",
        text: "Again",
        visibility: "public",
        "files[]": file
      })
      assert.strictEqual(textOf((yield* statusesOf(hans))[0]!), "Again")
    }))

  it.effect("fills the text from links, lists emoji and completes names, hashtags and emoji", () =>
    Effect.gen(function*() {
      const { createPerson } = yield* TestServer
      const olga = yield* createPerson("olga")
      const browser = yield* staffBrowser(olga)
      const shared = yield* browser.get("/share?title=A+page&text=worth+it&url=https%3A%2F%2Fexample.org%2Fx")
      assert.strictEqual(shared.status, 302)
      assert.match((yield* browser.get(pathOf(shared))).text, />A page\nworth it\nhttps:\/\/example.org\/x<\/textarea>/)
      const intent = yield* browser.get(`/intent?uri=${encodeURIComponent("web+ap://share?text=hello")}`)
      assert.strictEqual(pathOf(intent), "/share?text=hello")
      const other = yield* browser.get(`/intent?uri=${encodeURIComponent("web+ap://remote.example/@a")}`)
      assert.strictEqual(pathOf(other), `/authorize_interaction?uri=${encodeURIComponent("https://remote.example/@a")}`)
      assert.strictEqual((yield* browser.get("/publish/emojis")).status, 200)
      const names = yield* browser.get("/web/compose/completions?q=%40olg")
      assert.containsSubset(JSON.parse(names.text), [{ text: "@olga" }])
      const away = yield* (yield* staffBrowser()).get("/publish?text=hello")
      assert.strictEqual(locationOf(away).searchParams.get("return_to"), "/publish?text=hello")
    }))
})
