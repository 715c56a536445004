import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { ask, publishedId, settled } from "../support/Api.ts"
import { cli } from "../support/CommandLine.ts"
import { TestServer } from "../support/Server.ts"
import { Browser, picture, visit } from "./Browser.ts"
import { findingsAtEveryWidth, pictureName } from "./EveryWidth.ts"
import { signIn } from "./Visits.ts"

/** Writes posts of each kind; returns the paths of public pages, and of members' pages. */
const furnish = Effect.gen(function*() {
  const { createPerson, variables } = yield* TestServer
  const [ada, bob] = [yield* createPerson("ada"), yield* createPerson("bob")]
  yield* cli(
    ["instance", "set", "--title", "The Reading Room", "--description", "Books, and what they are about"],
    variables
  )
  yield* cli(["instance", "rules", "add", "Be kind", "--hint", "To everybody"], variables)
  yield* ask(bob, "PATCH", "/api/v1/accounts/update_credentials", {
    discoverable: true,
    display_name: "Bob",
    note: "Reads https://example.org/a/very/long/path/to/some/page/that/does/not/end"
  })
  const post = yield* publishedId(bob, "A post with a #tag, a poll and a very_long_word_".padEnd(200, "x"), {
    poll: { options: ["Yes", "No"], expires_in: 3_600 }
  })
  const warned = yield* publishedId(bob, "All is well", {
    spoiler_text: "The end",
    in_reply_to_id: post,
    language: "en"
  })
  yield* ask(bob, "PUT", `/api/v1/statuses/${warned}`, { status: "All ends well", spoiler_text: "The end" })
  yield* publishedId(ada, "@bob what else?", { in_reply_to_id: post })
  const own = yield* publishedId(ada, "Mine")
  yield* ask(ada, "POST", `/api/v1/accounts/${bob.accountId}/follow`)
  for (const act of ["favourite", "bookmark"]) yield* ask(ada, "POST", `/api/v1/statuses/${post}/${act}`)
  yield* publishedId(ada, "Later", { scheduled_at: "2090-01-01T00:00:00Z" })
  yield* ask(ada, "POST", "/api/v1/filters", { phrase: "weather", context: ["home"] })
  yield* settled
  return {
    ada,
    open: [
      "/about",
      "/privacy-policy",
      "/terms-of-service",
      "/nowhere",
      "/health",
      "/public/local",
      "/@bob",
      "/@bob/with_replies",
      "/@bob/media",
      `/@bob/${post}`,
      `/@bob/${warned}/history`,
      "/tags/tag",
      "/explore",
      "/search?q=bob"
    ],
    visitors: ["/", "/auth/sign_in", "/auth/sign_up", "/auth/password/new", "/auth/confirmation/new", "/invite/none"],
    members: [
      "/home",
      "/public",
      "/bookmarks",
      "/favourites",
      "/publish",
      `/publish?reply_to=${post}`,
      "/drafts",
      "/scheduled",
      "/keys",
      "/lists",
      "/settings/filters",
      "/@bob/lists",
      "/invites",
      "/settings",
      ...["mute", "block", "report", "note", "follow"].map((act) => `/web/accounts/${bob.accountId}/${act}`),
      ...["delete", "react"].map((act) => `/web/statuses/${own}/${act}`),
      "/oauth/authorized_applications",
      "/disputes/strikes"
    ]
  }
})

layer(Layer.merge(TestServer.layer(), Browser.layer), { excludeTestServices: true })(
  "every page in a browser",
  (it) => {
    it.effect(
      "F227: has no Axe findings at three widths in light and dark, and fits in Arabic on a phone",
      () =>
        Effect.gen(function*() {
          const { baseUrl } = yield* TestServer
          const { ada, members, open, visitors } = yield* furnish
          const [stranger, member] = [yield* visit(), yield* visit()]
          const found: Array<string> = []
          const look = async ({ page }: typeof stranger, who: string, paths: ReadonlyArray<string>) => {
            for (const path of paths) {
              const response = await page.goto(baseUrl + path)
              const status = response?.status() ?? 0
              if (status >= 500 || status === 404 && !/nowhere|terms|none/.test(path)) {
                found.push(`${path} answers ${status}`)
              }
              found.push(...await findingsAtEveryWidth(page, `${who} ${path}`, `${who}${pictureName(path)}`))
              await page.goto(`${baseUrl}${path}${path.includes("?") ? "&" : "?"}lang=ar`)
              await page.emulateMedia({ colorScheme: "light" })
              const [direction, wide] = await page.evaluate<[string, boolean]>(
                "[document.documentElement.dir, document.documentElement.scrollWidth > innerWidth]"
              )
              if (direction !== "rtl") found.push(`${path} in Arabic is written ${direction}`)
              if (wide) found.push(`${path} in Arabic is wider than a telephone`)
              await picture(page, `ar-${who}${pictureName(path)}`)
            }
          }
          yield* Effect.promise(async () => {
            await member.page.goto(`${baseUrl}/home`)
            await signIn(member.page, ada)
            await Promise.all([
              look(stranger, "visitor", [...open, ...visitors]),
              look(member, "member", [...open, ...members])
            ])
          })
          assert.deepStrictEqual(found, [])
        })
    )
  }
)
