import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { ask, settled } from "../support/Api.ts"
import { cli } from "../support/CommandLine.ts"
import { allTrends } from "../support/Crowd.ts"
import { type Person, TestServer } from "../support/Server.ts"
import { Browser, visit } from "./Browser.ts"
import { findingsAtEveryWidth, pictureName } from "./EveryWidth.ts"
import { signIn } from "./Visits.ts"

const write = (by: Person, status: string, more: Record<string, unknown> = {}) =>
  Effect.map(ask(by, "POST", "/api/v1/statuses", { status, ...more }), ({ body, status: code }) => {
    assert.strictEqual(code, 200, JSON.stringify(body))
    return String(body.id)
  })
const follow = (by: Person, whom: Person) => ask(by, "POST", `/api/v1/accounts/${whom.accountId}/follow`, {})

/** Fills every page of the first person, and returns the pages' paths. */
const furnish = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const { createPerson, variables } = yield* TestServer
  const [ada, bob, cleo, dora] = [
    yield* createPerson("ada"),
    yield* createPerson("bob"),
    yield* createPerson("cleo_with_a_rather_long_name"),
    yield* createPerson("dora")
  ]
  const profile = (of: Person, more: Record<string, unknown>) =>
    ask(of, "PATCH", "/api/v1/accounts/update_credentials", { discoverable: true, ...more })
  yield* profile(ada, { locked: true })
  yield* profile(bob, {
    display_name: "Bob the Builder",
    note: "Houses, gardens and what lies between them. ".repeat(5)
  })
  yield* profile(cleo, { note: "Short." })
  yield* profile(dora, {})
  for (const other of [bob, cleo]) yield* follow(ada, other)
  const own = yield* write(
    ada,
    "What a day: the garden is full of bees, and nobody had to be asked to come and look at them.",
    { visibility: "public" }
  )
  for (const other of [bob, cleo, dora]) {
    yield* ask(other, "POST", `/api/v1/statuses/${own}/favourite`)
    yield* follow(other, ada)
  }
  yield* ask(bob, "POST", `/api/v1/statuses/${own}/reblog`)
  yield* follow(bob, dora)
  yield* write(bob, "@ada I should like to see them, too #bees", { in_reply_to_id: own })
  yield* write(bob, "@ada and this is between us", { visibility: "direct" })
  yield* ask(ada, "PATCH", "/api/v2/notifications/policy", { for_not_following: "filter" })
  yield* write(dora, "@ada hello, we do not know each other")
  const { body: list } = yield* ask(ada, "POST", "/api/v1/lists", { title: "Gardeners", exclusive: true })
  yield* ask(ada, "POST", `/api/v1/lists/${list.id}/accounts`, { account_ids: [String(bob.accountId)] })
  yield* ask(ada, "POST", `/api/v1/lists/${list.id}/tags`, { tags: ["bees"] })
  yield* write(bob, "A list shows this")
  yield* ask(ada, "POST", "/api/v1/tags/bees/follow")
  const { body: created } = yield* ask(ada, "POST", "/api/v1/collections", {
    name: "Good neighbours",
    description: "People with gardens",
    account_ids: [String(bob.accountId)]
  })
  yield* cli(["announcement", "add", "We move to a larger machine on *Sunday*."], variables)
  yield* settled
  yield* allTrends("https://news.example/story")
  yield* sql`UPDATE tags SET trendable = true`
  return {
    ada,
    bob,
    paths: [
      "/notifications",
      "/notifications/requests",
      "/conversations",
      "/lists",
      `/lists/${list.id}`,
      `/lists/${list.id}/members?q=cleo`,
      "/@bob/lists",
      "/@ada/followers",
      "/@ada/following",
      "/followed_tags",
      "/follow_requests",
      "/explore",
      "/explore/tags",
      "/explore/links",
      "/explore/suggestions",
      "/search?q=ada",
      "/announcements",
      "/collections",
      `/collections/${created.collection.id}/edit?q=cleo`,
      "/catchup"
    ]
  }
})

layer(Layer.merge(TestServer.layer(), Browser.layer), { excludeTestServices: true })(
  "pages of the web in a browser",
  (it) => {
    it.effect("fit three widths in light and dark, follow in place, and mark what is read", () =>
      Effect.gen(function*() {
        const { baseUrl } = yield* TestServer
        const { ada, bob, paths } = yield* furnish
        const { page, problems } = yield* visit()
        const found = yield* Effect.promise(async () => {
          await page.goto(`${baseUrl}/home`)
          await signIn(page, ada)
          const all: Array<string> = []
          for (const path of paths) {
            const response = await page.goto(baseUrl + path)
            if (response?.status() !== 200) all.push(`${path} answers ${response?.status()}`)
            all.push(...await findingsAtEveryWidth(page, path, `web${pictureName(path)}`))
          }
          return all
        })
        assert.deepStrictEqual(found, [])
        yield* Effect.promise(async () => {
          // The first visit of the page has marked the notifications as read.
          await page.goto(`${baseUrl}/notifications`)
          assert.strictEqual(await page.locator(".unread-count").count(), 0)
          await page.goto(`${baseUrl}/@ada/following`)
          const row = page.locator(`#account-${bob.accountId}`)
          await row.getByRole("button", { name: "Unfollow @bob" }).click()
          const back = row.getByRole("button", { name: "Follow @bob", exact: true })
          await back.waitFor()
          assert.strictEqual(await page.evaluate("document.activeElement.value"), "follow")
          assert.strictEqual(new URL(page.url()).hash, "")
        })
        assert.deepStrictEqual(problems, [])
      }))

    it.effect("work without scripts: read, dismiss, follow, search", () =>
      Effect.gen(function*() {
        const { baseUrl, createPerson } = yield* TestServer
        const [emil, fritz] = [yield* createPerson("emil"), yield* createPerson("fritz")]
        yield* write(fritz, "@emil good evening")
        yield* settled
        const chromium = yield* Browser
        const context = yield* Effect.acquireRelease(
          Effect.promise(() =>
            chromium.newContext({ javaScriptEnabled: false, viewport: { width: 390, height: 844 } })
          ),
          (context) => Effect.promise(() => context.close())
        )
        yield* Effect.promise(async () => {
          const page = await context.newPage()
          await page.goto(`${baseUrl}/home`)
          await signIn(page, emil)
          await page.getByRole("navigation", { name: "Bottom bar" }).getByRole("link", { name: /Notifications/ })
            .click()
          assert.strictEqual(await page.locator(".note.unread").count(), 1)
          await page.getByRole("button", { name: "Mark as read" }).click()
          assert.strictEqual(await page.locator(".note.unread").count(), 0)
          await page.getByRole("button", { name: "Dismiss" }).click()
          await page.getByText("No notifications.").waitFor()
          await page.getByText("More", { exact: true }).click()
          await page.getByRole("link", { name: "Search" }).click()
          await page.getByRole("searchbox").fill("fritz")
          await page.getByRole("button", { name: "Search" }).click()
          await page.getByRole("button", { name: "Follow @fritz", exact: true }).click()
          await page.getByRole("button", { name: "Unfollow @fritz" }).waitFor()
        })
      }))
  }
)
