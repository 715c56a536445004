import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { group } from "../../../src/http/oauth/ScopeTexts.ts"
import { Apps } from "../../../src/services/oauth/Apps.ts"
import * as Scopes from "../../../src/services/oauth/Scopes.ts"
import { payloads } from "../../services/html/payloads.ts"
import { user } from "../../support/SignedIn.ts"
import * as TestBrowser from "../../support/TestBrowser.ts"
import { server } from "../../support/WebServer.ts"

const summary = (scopes: string) =>
  group(Scopes.parse(scopes)).map(({ access, dangerous, title }) => `${title}: ${access}${dangerous ? " !" : ""}`)

describe("S-243 scopes in plain words", () => {
  it("are grouped by subject, with the kind of access, and dangerous ones are marked", () => {
    assert.deepStrictEqual(summary("write:statuses read:statuses push read:lists write:media"), [
      "Lists: Read-only",
      "Media: Write-only",
      "Posts: Read and write",
      "Push notifications: undefined"
    ])
    assert.deepStrictEqual(summary("read"), ["Everything in your account: Read-only"])
    assert.deepStrictEqual(summary("read write"), ["Everything in your account: Read and write"])
    assert.deepStrictEqual(summary("follow profile"), [
      "Your profile: Read-only",
      "Follows, mutes and blocks: Read and write"
    ])
    assert.deepStrictEqual(summary("admin:read admin:write:accounts"), [
      "Administration: everything: Read-only !",
      "Administration: accounts: Write-only !"
    ])
  })

  it("every scope has its own line", () => {
    for (const scope of Scopes.all) {
      const [found, ...more] = group([scope])
      assert.strictEqual(more.length, 0, scope)
      assert.isAtLeast(found?.texts.length ?? 0, 1, scope)
    }
    const lines = Scopes.all.filter((scope) => scope !== "follow").flatMap((scope) =>
      group([scope]).flatMap(({ texts }) => texts)
    )
    assert.strictEqual(new Set(lines).size, lines.length)
  })

  it.prop("every requested permission is listed", [Schema.Array(Schema.Literals(Scopes.all))], ([scopes]) => {
    const listed = group(scopes).flatMap(({ texts }) => texts)
    for (const scope of scopes) for (const { texts } of group([scope])) assert.includeMembers(listed, [...texts])
  })
})

/** Finds foreign content: our pages have no script, style or event handler. */
const foreign = (html: string) =>
  /<(?:script|style|img|iframe|svg|math|object|embed|base|form(?! method="post" action="\/)|link(?! rel="(?:stylesheet|icon|apple-touch-icon|manifest)"(?: type="image\/png")?(?: sizes="\d+x\d+")? href="\/(?:assets\/[\w.-]+|manifest)">)|meta(?! (?:charset|name)=))/i
    .exec(html) ??
    /<[^>"]*(?:"[^"]*"[^>"]*)*\s(?:on\w+|style)=/i.exec(html) ?? /href="(?!https?:|\/|#content")/i.exec(html)

layer(server(), { excludeTestServices: true })("the consent page", (it) => {
  it.effect("S-243 names app, user and scopes", () =>
    Effect.gen(function*() {
      yield* user("karl")
      const browser = TestBrowser.make()
      yield* browser.signIn("karl")
      const { app } = yield* (yield* Apps).register({
        name: "Reader",
        redirectUris: ["urn:ietf:wg:oauth:2.0:oob"],
        scopes: ["read", "write"],
        website: "https://reader.example/about"
      })
      const page = (scope: string) =>
        browser.get(
          `/oauth/authorize?${new URLSearchParams({
            response_type: "code",
            client_id: app.clientId,
            redirect_uri: app.redirectUris[0]!,
            scope
          })}`
        )
      const both = (yield* page("read write")).text
      assert.include(both, "Allow Reader to use your account?")
      assert.include(both, "@karl@local.example")
      assert.include(both, `href="https://reader.example/about"`)
      assert.match(both, /<h2>Everything in your account<\/h2><span class="badge">Read and write/)
      assert.notInclude(both, "dangerous")
    }))

  it.effect("F51: usual scopes are shown plainly, staff or unusual ones in red", () =>
    Effect.gen(function*() {
      yield* user("kalle")
      const browser = TestBrowser.make()
      yield* browser.signIn("kalle")
      const { app } = yield* (yield* Apps).register({
        name: "Tool",
        redirectUris: ["urn:ietf:wg:oauth:2.0:oob"],
        scopes: Scopes.all,
        website: undefined
      })
      const red = Effect.fnUntraced(function*(scope: string) {
        const query = { response_type: "code", client_id: app.clientId, redirect_uri: app.redirectUris[0]!, scope }
        const { text } = yield* browser.get(`/oauth/authorize?${new URLSearchParams(query)}`)
        return Array.from(text.matchAll(/<li class="dangerous">\s*<div class="row"><h2>([^<]*)/g), ([, title]) => title)
      })
      assert.deepStrictEqual(yield* red("read write follow push profile"), [])
      assert.deepStrictEqual(yield* red("read admin:read:accounts admin:write"), [
        "Administration: everything",
        "Administration: accounts"
      ])
      assert.deepStrictEqual(yield* red("write crypto"), ["End-to-end encryption"])
      assert.deepStrictEqual(yield* red("read activitypub_account_portability"), ["Copy of your account"])
    }))

  it.effect("row 41: shows names, states and codes as text, with any content", () =>
    Effect.gen(function*() {
      yield* user("lara")
      const apps = yield* Apps
      const browser = TestBrowser.make()
      yield* browser.signIn("lara")
      for (const payload of payloads) {
        const { app } = yield* apps.register({
          name: payload.replaceAll("\0", "").slice(0, 60),
          redirectUris: ["https://app.example/\"><script>x</script>"],
          scopes: ["read"],
          website: "https://app.example/\"><script>x</script>"
        })
        const query = new URLSearchParams({
          response_type: "code",
          client_id: app.clientId,
          redirect_uri: app.redirectUris[0]!,
          state: payload.replaceAll("\0", "")
        })
        const pages = [
          yield* browser.get(`/oauth/authorize?${query}`),
          yield* browser.get(`/oauth/authorize/native?${new URLSearchParams({ code: payload.replaceAll("\0", "") })}`),
          yield* browser.get(
            `/auth/password/edit?${new URLSearchParams({ reset_password_token: payload.replaceAll("\0", "") })}`
          )
        ]
        for (const page of pages) assert.isNull(foreign(page.text), page.text)
        assert.strictEqual(TestBrowser.formsOf(pages[0]!)[0]?.fields["state"], query.get("state"))
      }
      assert.isNotNull(foreign("<b onclick=x>"))
      assert.isNotNull(foreign("<script>"))
      assert.isNotNull(foreign(`<a href="javascript:x">`))
    }))
})
