import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { ask, settled } from "../../support/Api.ts"
import { type Person, TestServer } from "../../support/Server.ts"
import { staffBrowser } from "../../support/StaffBrowser.ts"
import { formsOf } from "../../support/TestBrowser.ts"

const follow = (by: Person, whom: Person) => ask(by, "POST", `/api/v1/accounts/${whom.accountId}/follow`, {})
const write = (by: Person, status: string, more: Record<string, unknown> = {}) =>
  Effect.map(ask(by, "POST", "/api/v1/statuses", { status, ...more }), ({ body }) => String(body.id))
const people = (...names: ReadonlyArray<string>) =>
  TestServer.use(({ createPerson }) => Effect.forEach(names, (name) => createPerson(name)))

layer(TestServer.layer(), { excludeTestServices: true })("people in the web client", (it) => {
  it.effect("are followed and unfollowed from lists, with and without a script", () =>
    Effect.gen(function*() {
      const [ada, bob, cleo] = yield* people("ada", "bob", "cleo")
      yield* ask(cleo!, "PATCH", "/api/v1/accounts/update_credentials", { locked: true, note: "Gardens & <b>bees</b>" })
      yield* follow(bob!, ada!)
      yield* follow(cleo!, ada!)
      const browser = yield* staffBrowser(ada)
      const page = yield* browser.get("/@ada/followers")
      assert.match(page.text, /Follow back<span class="unseen"> @bob</)
      assert.match(page.text, /Request to follow<span class="unseen"> @cleo</)
      assert.include(page.text, "Gardens &amp; &lt;b&gt;bees&lt;/b&gt;")
      const form = formsOf(page).find(({ action }) => action === `/web/accounts/${bob!.accountId}`)!
      const send = (act: string, headers: Record<string, string> = {}) =>
        Effect.flatMap(TestServer, ({ baseUrl }) =>
          browser.request(form.action, {
            method: "POST",
            body: new URLSearchParams({ ...form.fields, act }),
            headers: { origin: baseUrl, ...headers }
          }))
      const done = yield* send("follow")
      assert.strictEqual(done.headers.get("location"), `/@ada/followers#account-${bob!.accountId}`)
      const relation = () =>
        Effect.map(ask(ada, "GET", `/api/v1/accounts/relationships?id[]=${bob!.accountId}`), ({ body }) =>
          body[0].following)
      assert.isTrue(yield* relation())
      const part = yield* send("unfollow", { "x-murmuration-part": "follow" })
      assert.match(part.text, /^<form method="post" action="\/web\/accounts\/\d+" class="follow">/)
      assert.isFalse(yield* relation())
      assert.strictEqual((yield* send("constructor")).status, 303)
      // The profile has the same button, and links to the lists of people.
      const profile = yield* browser.get("/@bob")
      assert.match(profile.text, /Follow back<span class="unseen"> @bob</)
      assert.include(profile.text, `href="/@bob/followers"`)
      assert.include(profile.text, `href="/@bob/lists"`)
    }))

  it.effect("hide their follows from others if they want, but not from themselves", () =>
    Effect.gen(function*() {
      const [dora, emil] = yield* people("dora", "emil")
      yield* follow(emil!, dora!)
      const [visitor, own, other] = [yield* staffBrowser(), yield* staffBrowser(dora), yield* staffBrowser(emil)]
      assert.include((yield* visitor.get("/@dora/followers")).text, "@emil")
      assert.notInclude((yield* visitor.get("/@dora/followers")).text, "<form")
      assert.deepStrictEqual([...visitor.cookies], [])
      yield* ask(dora!, "PATCH", "/api/v1/accounts/update_credentials", { hide_collections: true })
      for (const browser of [visitor, other]) {
        const { text } = yield* browser.get("/@dora/followers")
        assert.include(text, "This account does not show its follows and followers.")
        assert.notInclude(text, `id="account-`)
      }
      assert.include((yield* own.get("/@dora/followers")).text, "@emil")
      assert.strictEqual((yield* visitor.get("/@nobody/following")).status, 404)
    }))

  it.effect("are added to lists and removed, from the list and from their own page", () =>
    Effect.gen(function*() {
      const [fritz, gina] = yield* people("fritz", "gina")
      yield* follow(fritz!, gina!)
      const browser = yield* staffBrowser(fritz)
      const created = yield* browser.press(yield* browser.get("/lists"), "create", {
        title: "Friends <3",
        replies_policy: "none",
        exclusive: "true"
      })
      const members = created.headers.get("location") ?? ""
      assert.match(members, /^\/lists\/\d+\/members$/)
      const lists = (yield* ask(fritz, "GET", "/api/v1/lists")).body
      assert.deepStrictEqual([lists[0].title, lists[0].replies_policy, lists[0].exclusive], [
        "Friends <3",
        "none",
        true
      ])
      const found = yield* browser.get(`${members}?q=gin`)
      const added = yield* browser.press(found, "add")
      assert.strictEqual(added.headers.get("location"), `${members}?q=gin#account-${gina!.accountId}`)
      const id = yield* write(gina!, "for the list")
      yield* settled
      assert.include((yield* browser.get(`/lists/${lists[0].id}`)).text, `status-${id}`)
      yield* browser.press(yield* browser.get(members), "add_tag", { tag: "#bees" })
      assert.include((yield* browser.get(members)).text, "#bees")
      yield* browser.press(yield* browser.get(members), "remove_tag")
      assert.notInclude((yield* browser.get(members)).text, "#bees")
      yield* browser.press(yield* browser.get(members), "remove")
      const page = yield* browser.get("/@gina/lists")
      assert.notMatch(page.text, /name="list\[\]"[^>]* checked/)
      yield* browser.press(page, "save", { "list[]": lists[0].id })
      assert.match((yield* browser.get("/@gina/lists")).text, /name="list\[\]"[^>]* checked/)
      yield* browser.press(yield* browser.get("/@gina/lists"), "save")
      assert.notMatch((yield* browser.get("/@gina/lists")).text, /name="list\[\]"[^>]* checked/)
      yield* browser.press(yield* browser.get(members), "change", { title: "Old friends", replies_policy: "list" })
      assert.include((yield* browser.get("/lists")).text, "Old friends")
      yield* browser.press(yield* browser.get(members), "delete")
      assert.include((yield* browser.get("/lists")).text, "You have no lists yet.")
      // Another member's list does not exist for this one.
      const other = yield* staffBrowser(gina)
      assert.strictEqual((yield* other.get(members)).status, 404)
    }))

  it.effect("are suggested, and a dismissed suggestion does not return", () =>
    Effect.gen(function*() {
      const [hans, ida, jon] = yield* people("hans", "ida", "jon")
      yield* ask(jon!, "PATCH", "/api/v1/accounts/update_credentials", { discoverable: true })
      yield* follow(hans!, ida!)
      yield* follow(ida!, jon!)
      const browser = yield* staffBrowser(hans)
      const page = yield* browser.get("/explore/suggestions")
      assert.include(page.text, "@jon")
      assert.include(page.text, "Followed by people you follow")
      yield* browser.press(page, "dismissSuggestion")
      assert.notInclude((yield* browser.get("/explore/suggestions")).text, "@jon")
    }))

  it.effect("have conversations that are opened, marked, and removed", () =>
    Effect.gen(function*() {
      const [kai, lea] = yield* people("kai", "lea")
      yield* follow(kai!, lea!)
      const id = yield* write(lea!, "@kai psst", { visibility: "direct" })
      yield* settled
      const browser = yield* staffBrowser(kai)
      const page = yield* browser.get("/conversations")
      assert.match(page.text, /class="entry unread" aria-label="New: lea"/)
      assert.include(page.text, `href="/publish?reply_to=${id}"`)
      const opened = yield* browser.press(page, "open")
      assert.strictEqual(opened.headers.get("location"), `/@lea/${id}`)
      assert.notInclude((yield* browser.get("/conversations")).text, "entry unread")
      yield* browser.press(yield* browser.get("/conversations"), "unread")
      assert.include((yield* browser.get("/conversations")).text, "entry unread")
      yield* browser.press(yield* browser.get("/conversations"), "remove")
      assert.include((yield* browser.get("/conversations")).text, "No conversations yet.")
      assert.strictEqual((yield* ask(kai, "GET", `/api/v1/statuses/${id}`)).status, 200)
    }))

  it.effect("are recommended in collections that their owner makes, and leave them", () =>
    Effect.gen(function*() {
      const [mia, nora] = yield* people("mia", "nora")
      yield* ask(nora!, "PATCH", "/api/v1/accounts/update_credentials", { discoverable: true })
      yield* follow(mia!, nora!)
      const browser = yield* staffBrowser(mia)
      const created = yield* browser.press(yield* browser.get("/collections"), "create", {
        name: "Bees & birds",
        description: "Good ones",
        tag_name: "bees",
        discoverable: "true"
      })
      const edit = created.headers.get("location") ?? ""
      assert.match(edit, /^\/collections\/\d+\/edit$/)
      yield* browser.press(yield* browser.get(`${edit}?q=nora`), "add")
      assert.match((yield* browser.get(edit)).text, /id="account-\d+"[\s\S]*@nora/)
      const other = yield* staffBrowser(nora)
      assert.strictEqual((yield* other.get(edit)).status, 404)
      assert.include((yield* other.get("/collections")).text, "Bees &amp; birds")
      yield* other.press(yield* other.get("/collections"), "leave")
      assert.notInclude((yield* other.get("/collections")).text, "Bees &amp; birds")
      yield* browser.press(yield* browser.get(edit), "change", { name: "Birds" })
      assert.include((yield* browser.get("/collections")).text, "Not listed")
      yield* browser.press(yield* browser.get(edit), "delete")
      assert.include((yield* browser.get("/collections")).text, "You have no collections yet.")
    }))
})
