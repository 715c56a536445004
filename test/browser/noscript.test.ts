import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { ask, settled } from "../support/Api.ts"
import { picture as drawn } from "../support/MediaFiles.ts"
import * as Programs from "../support/programs/Programs.ts"
import { TestServer } from "../support/Server.ts"
import { staffBrowser } from "../support/StaffBrowser.ts"
import { Browser } from "./Browser.ts"
import { leaveBy, signIn } from "./Visits.ts"

const run = promisify(execFile)

/** Maximum duration of w3m, in milliseconds. */
const dumpMillisMax = 180_000

layer(Layer.merge(TestServer.layer(), Browser.layer), { excludeTestServices: true })(
  "without scripts",
  (it) => {
    it.effect(
      "a member reads, writes, acts, sends messages, searches, follows, edits, votes and filters",
      () =>
        Effect.gen(function*() {
          const { baseUrl, createPerson } = yield* TestServer
          const [ada, bob] = [yield* createPerson("ada"), yield* createPerson("bob")]
          const write = (status: string, more: Record<string, unknown> = {}) =>
            Effect.map(ask(bob, "POST", "/api/v1/statuses", { status, ...more }), ({ body }) => String(body.id))
          const { body: root } = yield* ask(ada, "POST", "/api/v1/statuses", { status: "Who likes bees?" })
          yield* write("@ada I do #bees", { in_reply_to_id: root.id })
          yield* write("Tea or coffee?", { poll: { options: ["Tea", "Coffee"], expires_in: 3_600 } })
          yield* ask(ada, "POST", `/api/v1/accounts/${bob.accountId}/follow`)
          yield* settled
          const bytes = yield* Effect.promise(() => drawn(320, 200).png().toBuffer())
          const chromium = yield* Browser
          const context = yield* Effect.acquireRelease(
            Effect.promise(() =>
              chromium.newContext({ javaScriptEnabled: false, viewport: { width: 390, height: 844 } })
            ),
            (context) => Effect.promise(() => context.close())
          )
          yield* Effect.promise(async () => {
            const page = await context.newPage()
            const article = (text: string) => page.getByRole("article").filter({ hasText: text }).first()
            const act = async (text: string, name: string | RegExp) => {
              await leaveBy(page, article(text).getByRole("button", { name }).first())
            }
            const press = (name: string) => leaveBy(page, page.getByRole("button", { name, exact: true }).first())
            const open = (path: string) => page.goto(baseUrl + path)

            // The sign-in leads back to the requested page.
            await open("/notifications?type=mentions")
            await signIn(page, ada)
            assert.strictEqual(new URL(page.url()).pathname, "/notifications")
            await page.getByText("I do").first().waitFor()

            // Actions in the list return to the post.
            await open("/home")
            await act("Tea or coffee?", /^Favourite/)
            assert.match(new URL(page.url()).hash, /^#status-/)
            await act("Tea or coffee?", /^Boost/)
            await act("Tea or coffee?", /^Bookmark/)
            assert.strictEqual(await article("Tea or coffee?").locator("[aria-pressed=true]").count(), 3)

            // A poll.
            await article("Tea or coffee?").getByLabel("Coffee").check()
            await act("Tea or coffee?", "Vote")
            await article("Tea or coffee?").getByText("your vote").waitFor()

            // A reply from the list, with a content warning.
            await leaveBy(page, article("I do").getByRole("link", { name: /^Reply/ }))
            assert.include(await page.getByRole("textbox", { name: "Text" }).inputValue(), "@bob")
            await page.getByRole("textbox", { name: "Text" }).fill("@bob so do I")
            await page.getByText("Content warning", { exact: true }).click()
            await page.locator("[name=spoiler_text]").fill("Insects")
            await press("Post")
            await open(`/@ada/${root.id}`)
            await page.getByText("Insects").first().waitFor()

            // A picture with its description, for followers.
            await open("/publish")
            await page.getByRole("textbox", { name: "Text" }).fill("Look at this")
            await page.locator("input[type=file]").first().setInputFiles({
              name: "bee.png",
              mimeType: "image/png",
              buffer: bytes
            })
            await leaveBy(page, page.getByRole("button", { name: "Add file" }))
            await page.getByLabel(/Description for people/).fill("An orange stripe on blue")
            await page.locator("select[name=visibility]").selectOption("private")
            await press("Post")
            await open("/home")
            assert.strictEqual(
              await article("Look at this").getByRole("img", { name: "An orange stripe on blue" }).count(),
              1
            )
            // The picture links to the file.
            const link = article("Look at this").locator("a:has(img[alt='An orange stripe on blue'])")
            const shown = await page.request.get(new URL(await link.getAttribute("href") ?? "", baseUrl).href)
            assert.strictEqual(shown.status(), 200)

            // Edit, then delete.
            await article("Look at this").locator("summary", { hasText: "More" }).click()
            await article("Look at this").getByRole("link", { name: "Edit" }).click()
            await page.getByRole("textbox", { name: "Text" }).fill("Look at that")
            await press("Save changes")
            await open("/home")
            await article("Look at that").locator("summary", { hasText: "More" }).click()
            await article("Look at that").getByRole("link", { name: /^Delete/ }).first().click()
            await leaveBy(page, page.getByRole("button", { name: "Delete", exact: true }))
            assert.strictEqual(await article("Look at that").count(), 0)

            // A private mention is a conversation.
            await open("/publish?visibility=direct&text=@bob%20psst")
            await page.locator("select[name=visibility]").selectOption("direct")
            await press("Post")
            await open("/conversations")
            await page.getByText("psst").first().waitFor()

            // Search by a handle; follow a hashtag.
            await open("/search?q=@bob")
            await page.getByRole("link", { name: /@bob/ }).first().waitFor()
            await open("/tags/bees")
            await leaveBy(page, page.getByRole("button", { name: "Follow" }).first())
            await open("/followed_tags")
            await page.getByText("bees").first().waitFor()

            // Posts with a filtered word are collapsed.
            await open("/settings/filters")
            await page.locator("[name=title]").fill("Drinks")
            await page.locator("[name=keywords]").fill("coffee")
            await page.getByLabel("Home and lists").check()
            await press("Create filter")
            await open("/home")
            await page.getByText("Filtered: Drinks. Show anyway").first().waitFor()

            // Report, then mute, then block, each on a page of its own.
            await open(`/web/accounts/${bob.accountId}/report`)
            await page.getByLabel("It is spam").check()
            await press("Submit report")
            await page.getByText("Thank you. The moderators have your report.").waitFor()
            await open(`/web/accounts/${bob.accountId}/mute`)
            await press("Mute")
            await page.getByText("You no longer see @bob.").waitFor()
            await open(`/web/accounts/${bob.accountId}/block`)
            await press("Block")
            await page.getByText("You blocked @bob.").waitFor()
            await press("Undo")
            await open("/blocks")
            assert.strictEqual(await page.getByText("@bob").count(), 0)
          })
        })
    )

    it.effect("w3m shows a post, a thread and Home as text", () =>
      Effect.gen(function*() {
        const { baseUrl, createPerson } = yield* TestServer
        const [cleo, dora] = [yield* createPerson("cleo"), yield* createPerson("dora")]
        const { body: root } = yield* ask(dora, "POST", "/api/v1/statuses", { status: "Plain words for plain people" })
        yield* ask(cleo, "POST", "/api/v1/statuses", { status: "@dora well said", in_reply_to_id: root.id })
        yield* ask(cleo, "POST", `/api/v1/accounts/${dora.accountId}/follow`)
        yield* settled
        const browser = yield* staffBrowser(cleo)
        const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; ")
        const dump = (path: string, signedIn: boolean) =>
          Effect.promise(() =>
            run(Programs.path("w3m"), [
              ...(signedIn ? ["-header", `Cookie: ${cookie}`] : []),
              "-dump",
              "-cols",
              "100",
              baseUrl + path
            ], { timeout: dumpMillisMax })
          ).pipe(Effect.map(({ stdout }) => stdout))
        const thread = yield* dump(`/@dora/${root.id}`, false)
        for (const text of ["Plain words for plain people", "well said", "Sign in"]) assert.include(thread, text)
        const profile = yield* dump("/@dora", false)
        assert.include(profile, "Plain words")
        const home = yield* dump("/home", true)
        // The navigation, the post and its actions are text.
        for (const text of ["Notifications", "Plain words", "Reply", "Boost", "Favourite", "Sign out"]) {
          assert.include(home, text)
        }
        assert.notMatch(home, /undefined|\[object|function\s*\(/)
        for (const path of ["/about", "/publish", "/notifications", "/settings", "/explore"]) {
          assert.isAbove((yield* dump(path, true)).length, 100, path)
        }
      }))
  }
)
