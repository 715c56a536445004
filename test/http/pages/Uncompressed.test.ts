import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { tokenField } from "../../../src/http/html/FormTokens.ts"
import { compressedBytesMin } from "../../../src/layers/Compression.ts"
import { ask } from "../../support/Api.ts"
import { setUp } from "../../support/Authenticator.ts"
import { type Person, TestServer } from "../../support/Server.ts"
import { sourcesIn } from "../../support/source.ts"
import { staffMember } from "../../support/Staff.ts"
import { staffBrowser } from "../../support/StaffBrowser.ts"
import { locationOf } from "../../support/TestBrowser.ts"
import { pages as staffPages } from "../staff/pages/pages.ts"

const strikeOf = Effect.fnUntraced(function*(person: Person) {
  const sql = yield* SqlClient.SqlClient
  const moderator = yield* staffMember("judge", ["administrator"], 2_000)
  yield* ask(moderator, "POST", `/api/v1/admin/accounts/${person.accountId}/action`, { type: "none", text: "Careful" })
  const [strike] = yield* sql<
    { id: bigint }
  >`SELECT id FROM account_warnings WHERE target_account_id = ${person.accountId}`
  return `/disputes/strikes/${strike?.id}`
})

const consentOf = Effect.gen(function*() {
  const { body: app } = yield* ask(undefined, "POST", "/api/v1/apps", {
    client_name: "App",
    redirect_uris: "https://app.example/back"
  })
  return `/oauth/authorize?${new URLSearchParams({
    response_type: "code",
    client_id: app.client_id,
    redirect_uri: "https://app.example/back"
  })}`
})

/** Page that shows the form token of each file; parts of staff pages appear on every staff page. */
const places: Readonly<Record<string, string | undefined>> = {
  "src/http/staff/pages/AppearancePage.ts": "/admin/settings/appearance",
  "src/http/staff/pages/EmojiArchive.ts": "/admin/custom_emojis",
  "src/http/staff/pages/NewEmoji.ts": "/admin/custom_emojis/new",
  "src/http/staff/pages/Shell.ts": "/admin",
  "src/http/staff/pages/parts/Controls.ts": "/admin/settings",
  // Pages of the web client are checked by `TestBrowser` in their own tests.
  "src/http/web/acts/AccountForms.ts": undefined,
  "src/http/web/acts/AccountPages.ts": undefined,
  "src/http/web/acts/StatusPages.ts": undefined,
  "src/http/web/compose/ComposeForm.ts": undefined,
  "src/http/web/compose/ComposePage.ts": undefined,
  "src/http/web/compose/UnpublishedPages.ts": undefined,
  "src/http/web/offline/PushPage.ts": undefined,
  "src/http/web/profiles/Head.ts": undefined,
  "src/http/web/settings/FormFields.ts": undefined,
  "src/http/web/shell/ActForm.ts": undefined,
  "src/http/web/shell/BulkForm.ts": undefined,
  "src/http/web/shell/FlashBox.ts": undefined,
  "src/http/web/shell/Navigation.ts": undefined,
  "src/http/web/status/ActsRow.ts": undefined,
  "src/http/web/status/StatusPoll.ts": undefined,
  "src/http/web/timelines/TimelinePages.ts": undefined,
  "src/http/oauth/AuthorizedApplications.ts": "/oauth/authorized_applications",
  "src/http/oauth/ConsentPage.ts": "consent",
  "src/http/web/settings/AccountSettings.ts": "/settings/account",
  "src/http/web/settings/DeletionPage.ts": "/settings/delete",
  "src/http/web/settings/MovingPages.ts": "/settings/aliases",
  "src/http/web/settings/PasskeyPage.ts": "/settings/passkeys",
  "src/http/pages/PasskeyForm.ts": "/auth/sign_in?force_login=true",
  // Pages that tests open through `TestBrowser` are also checked; these by their own tests.
  "src/http/web/first/OwnerSetup.ts": undefined,
  "src/http/web/settings/LinkedIdentities.ts": undefined,
  "src/http/web/settings/SessionPage.ts": undefined,
  "src/http/pages/CaptchaPage.ts": undefined,
  "src/http/pages/Confirmations.ts": "/auth/confirmation/new",
  "src/http/pages/SignUpForm.ts": "invite",
  "src/http/invites/pages/OwnInvites.ts": "/invites",
  "src/http/pages/Passwords.ts": "/auth/password/new",
  "src/http/pages/SecondStep.ts": "second",
  "src/http/pages/SignIn.ts": "/auth/sign_in?force_login=true",
  "src/http/pages/StrikePages.ts": "strike",
  "src/http/subscriptions/pages/Subscribing.ts": "/email_subscriptions/new/holder",
  "src/http/pages/TwoFactorPage.ts": "/settings/two_factor_authentication"
}

layer(TestServer.layer({ EMAIL_SUBSCRIPTIONS: "on" }), { excludeTestServices: true })(
  "BREACH",
  (it) => {
    it.effect("pages with secrets besides a form's token are sent uncompressed, however large; others are compressed", () =>
      Effect.gen(function*() {
        const { fetch } = yield* TestServer
        const far = encodeURIComponent(`/oauth/authorize?state=${"x".repeat(3_000)}`)
        const get = Effect.fnUntraced(function*(path: string) {
          const response = yield* fetch(path, { headers: { "accept-encoding": "br, gzip", accept: "text/html" } })
          const text = yield* Effect.promise(() => response.text())
          assert.isAbove(text.length, compressedBytesMin, path.slice(0, 40))
          return { coding: response.headers.get("content-encoding"), text }
        })
        const { coding, text } = yield* get(`/auth/sign_in?return_to=${far}`)
        assert.include(text, tokenField)
        assert.isNull(coding)
        assert.strictEqual((yield* get("/api/docs")).coding, "br")
      }))

    it.effect("every page masks its token again; a page with other secrets forbids transformation by proxies", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const users = sourcesIn("src/http").flatMap(({ path, text }) =>
          /\btokenInput\(/.test(text) && !path.endsWith("html/Forms.ts") ? [path] : []
        )
        assert.isAbove(users.length, 10)
        // A token enters a page in no other way.
        for (const { path, text } of sourcesIn("src/http")) {
          if (!path.endsWith("html/Forms.ts")) assert.notMatch(text, /hidden\(tokenField/, path)
        }
        assert.includeMembers(Object.keys(places), users, "each has a place where it is looked at")
        const holder = yield* staffMember("holder", ["administrator"], 1000)
        yield* sql`UPDATE users SET email_subscriptions = true WHERE account_id = ${holder.accountId}`
        const browser = yield* staffBrowser(holder)
        const strike = yield* strikeOf(holder)
        yield* browser.submit(yield* browser.get("/invites"), { max_uses: "5" })
        const [invite] = yield* sql<{ code: string }>`SELECT code FROM invites`
        const named: Readonly<Record<string, string>> = {
          consent: yield* consentOf,
          invite: `/invite/${invite?.code}`,
          strike
        }
        const look = Effect.fnUntraced(function*(one: typeof browser, path: string, holds: boolean) {
          const { headers, status, text } = yield* one.request(path, { headers: { "accept-encoding": "br, gzip" } })
          assert.strictEqual(status, 200, path)
          if (holds) assert.include(text, `name="${tokenField}"`, path)
          // `TestBrowser` refuses a token that an earlier response had.
          yield* one.request(path)
          const secret = path.startsWith("/admin") ||
            /<input type="hidden" name="(?!authenticity_token")|class="secret"/.test(text)
          if (secret) assert.isNull(headers.get("content-encoding"), path)
          assert.strictEqual(headers.get("cache-control"), `private, no-store${secret ? ", no-transform" : ""}`, path)
        })
        const stranger = yield* staffBrowser()
        for (const place of Object.values(places)) {
          if (place === undefined || place === "second") continue
          const visitor = place === "invite" ? stranger : browser
          yield* look(visitor, named[place] ?? place, true)
        }
        const plain = staffPages.map(({ path }) => path).filter((path) =>
          !path.includes(":") && !path.includes("export")
        )
        assert.isAbove(plain.length, 20)
        for (const path of plain) yield* look(browser, path, true)
        // The second step of a sign-in, and the codes, which are shown once.
        yield* setUp(browser, holder.password)
        const other = yield* staffBrowser()
        const led = yield* other.signIn(holder.username, undefined, holder.password)
        assert.strictEqual(locationOf(led).pathname, "/auth/two_factor")
        yield* look(other, locationOf(led).pathname + locationOf(led).search, true)
      }))
  }
)
