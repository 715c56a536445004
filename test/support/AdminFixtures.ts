import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { administratorBrowser } from "./AdministratorBrowser.ts"
import { ask, newPerson } from "./Api.ts"

/** Entries that page forms create, with the form's fields. */
const entries = [
  ["/admin/rules", "add", { text: "Be kind", hint: "To everybody who is here" }],
  ["/admin/announcements", "draft", { text: "The server moves on Sunday" }],
  ["/admin/domain_blocks/new", "create", { domain: "bad.example", severity: "silence", public_comment: "Spam" }],
  ["/admin/domain_allows", "create", { domain: "good.example" }],
  ["/admin/email_domain_blocks?domain=trash.example", "create", { domain: "trash.example" }],
  ["/admin/canonical_email_blocks", "create", { email: "a@mail.example" }],
  ["/admin/ip_blocks", "create", { ip: "192.0.2.0/24", severity: "sign_up_block", comment: "Bots" }],
  ["/admin/username_blocks", "create", { username: "rascal", exact: "yes" }],
  ["/admin/invites", "create", { max_uses: "5" }],
  ["/admin/moderation_lists", "create", {
    name: "Ours",
    url: "https://lists.example/a.csv",
    type: "csv",
    list_action: "reject"
  }],
  ["/admin/spam_rules/new", "create", { name: "Lotteries", state: "on", action: "hold", text_words: "lottery" }],
  ["/admin/spam_rules/new", "create", { name: "Pills", action: "drop", text_contains: "pills" }],
  ["/admin/spam_rules", "try", { days: "1" }],
  ["/admin/webhooks", "create", { url: "https://hooks.example/a/long/way/to/it", "events[]": "report.created" }]
] as const

/** Creates a user who was reported and warned, and has appealed. */
const moderated = Effect.fnUntraced(function*(staff: Parameters<typeof ask>[0]) {
  const sql = yield* SqlClient.SqlClient
  const [bad, good] = [yield* newPerson("thingbad"), yield* newPerson("thinggood")]
  const { body: post } = yield* ask(bad, "POST", "/api/v1/statuses", { status: "Buy my pills, they are cheap" })
  yield* ask(good, "POST", "/api/v1/reports", {
    account_id: String(bad.accountId),
    status_ids: [post.id],
    comment: "Spam, all day long",
    category: "spam"
  })
  yield* ask(staff, "POST", `/api/v1/admin/accounts/${bad.accountId}/action`, {
    type: "sensitive",
    text: "Tone it down"
  })
  const [strike] = yield* sql<
    { id: bigint }
  >`SELECT id FROM account_warnings WHERE target_account_id = ${bad.accountId}`
  yield* ask(bad, "POST", `/api/v1/strikes/${strike?.id}/appeal`, { text: "These were paintings" })
  return bad.accountId
})

/** Creates one of everything that staff pages show; the returned function finds the page of each. */
export const adminFixtures = Effect.fnUntraced(
  function*(owner: Effect.Success<ReturnType<typeof administratorBrowser>>) {
    const sql = yield* SqlClient.SqlClient
    yield* sql`INSERT INTO hosts (host) VALUES ('slow.example'), ('a-very-long-name-of-a-server.somewhere.example')
    ON CONFLICT DO NOTHING`
    yield* sql`INSERT INTO preview_card_providers (id, site) VALUES (81, 'news.example')`
    yield* sql`INSERT INTO tags (id, name, display_name, created_at) VALUES (82, 'ducks', 'Ducks', ${new Date(0)})`
    const account = yield* moderated(owner)
    for (const [path, name, fields] of entries) yield* owner.act(path, name, fields)
    yield* ask(yield* newPerson("thinggambler"), "POST", "/api/v1/statuses", { status: "A lottery of ducks" })

    /** Returns the first page that the list links to. */
    return Effect.fnUntraced(function*(path: string) {
      if (!path.includes(":")) return path
      if (path === "/admin/accounts/:id") return `/admin/accounts/${account}`
      const list = path.replace(/\/:\w+$/, "").replace("/dry_runs", "")
      // Resolved entries are listed, too.
      const { text } = yield* owner.browser.get(`${list}?state=all`)
      const links = text.matchAll(new RegExp(`href="${path.replace(/:\w+/, "([\\w.-]+)")}"`, "g"))
      const ids = [...links].flatMap(([, id = ""]) => /^(?:new|look|archive)$/.test(id) ? [] : [id])
      return path.replace(/:\w+/, ids[0] ?? "nothing")
    })
  }
)
