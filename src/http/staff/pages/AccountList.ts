import { Effect, Layer } from "effect"
import type { Messages } from "../../../services/languages/Messages.ts"
import { type AccountSelection, accountStatuses, AdminAccounts } from "../../../services/moderation/AdminAccounts.ts"
import { type ClientError, validationFailed } from "../../../services/runtime/Errors.ts"
import { defaultRole } from "../../../services/staff/Permissions.ts"
import { Roles } from "../../../services/staff/Roles.ts"
import { html } from "../../html/Html.ts"
import { AccountDecisions } from "./AccountDecisions.ts"
import { AccountLines, type AccountNames } from "./parts/AccountLines.ts"
import { roleOf, states } from "./parts/AccountStates.ts"
import { button } from "./parts/Controls.ts"
import {
  bulk,
  emptyList,
  filters,
  filterSelect,
  filterText,
  pageOf,
  pager,
  rowCheckbox,
  table,
  totalOf
} from "./parts/Tables.ts"
import { moment } from "./parts/Texts.ts"
import { StaffPages } from "./StaffPages.ts"
import { type Act, chosenIds, type Confirmation, idOf, type Visit } from "./StaffVisit.ts"

/** Maximum bulk actions that run concurrently. */
const atOnce = 4

/** Returns the selection from the query string; unknown words are ignored. */
const selectionOf = ({ query }: Visit): AccountSelection => {
  const [origin, role] = [query.get("origin"), query.get("role")]
  const roleId = idOf(role)
  const text = (name: string) => query.get(name) || undefined
  return {
    origin: origin === "local" || origin === "remote" ? origin : undefined,
    status: accountStatuses.find((one) => one === query.get("status")),
    staff: role === "staff",
    ...(roleId === undefined ? {} : { roleIds: [roleId] }),
    username: text("username"),
    displayName: text("display_name"),
    email: text("email"),
    domain: text("domain"),
    ip: text("ip")
  }
}

const statusChoices = ({ say }: Messages) =>
  [
    ["", say("Any state")],
    ["active", say("Active")],
    ["pending", say("Pending approval")],
    ["disabled", say("Frozen")],
    ["silenced", say("Limited")],
    ["sensitized", say("Media hidden")],
    ["suspended", say("Suspended")]
  ] as const

const make = Effect.gen(function*() {
  const accounts = yield* AdminAccounts
  const decisions = yield* AccountDecisions
  const people = yield* AccountLines
  const roles = yield* Roles
  const staff = yield* StaffPages

  const show = Effect.fnUntraced(function*(visit: Visit) {
    const { words: { say }, words } = visit
    const ids = yield* accounts.page(selectionOf(visit), pageOf(visit))
    const total = yield* totalOf(visit, ids.length, accounts.total(selectionOf(visit)))
    const records = yield* accounts.load(ids)
    const names = yield* people.load(ids)
    const known = yield* roles.list
    const rows = ids.flatMap((id) => {
      const record = records.get(id)
      if (record === undefined) return []
      const role = roleOf(record)
      return [[
        rowCheckbox(id, say("Select {name}", { name: names.handle(id) ?? "" })),
        names.line(id),
        html`${states(words, record)}${
          record.reason === null ? "" : html`<span class="hint" dir="auto">${record.reason.slice(0, 300)}</span>`
        }`,
        html`${record.email ?? ""}${role === undefined ? "" : html` <span class="badge">${role}</span>`}`,
        moment(words, record.createdAt)
      ]]
    })
    return {
      title: say("Accounts"),
      body: html`${
        filters(
          visit,
          html`${
            filterSelect(visit, "origin", say("From"), [
              ["", say("Anywhere")],
              ["local", say("This server")],
              ["remote", say("Other servers")]
            ])
          }${filterSelect(visit, "status", say("State"), statusChoices(words))}${
            filterSelect(visit, "role", say("Role"), [
              ["", say("Any role")],
              ["staff", say("Any staff")],
              ...known.filter(({ id }) => id !== defaultRole).map(({ id, name }) => [String(id), name] as const)
            ])
          }${filterText(visit, "username", say("Username"))}${filterText(visit, "display_name", say("Display name"))}${
            filterText(visit, "email", say("Email address"))
          }${filterText(visit, "domain", say("Server"))}${filterText(visit, "ip", say("IP address or network"))}`
        )
      }${total}${
        rows.length === 0
          ? emptyList(say("No accounts match."))
          : bulk(
            visit,
            table(
              [say("Selected"), say("Account"), say("State"), say("Email and role"), say("Since")],
              rows,
              say("Accounts")
            ),
            html`${button("approve", say("Approve"))}${button("reject", say("Reject"), "danger")}${
              button("silence", say("Limit"), "danger")
            }${button("suspend", say("Suspend"), "danger")}`
          )
      }${pager(visit, ids)}`
    }
  })

  const chosen = Effect.fnUntraced(function*(visit: Visit) {
    const ids = chosenIds(visit)
    if (ids.length === 0) return yield* validationFailed("Accounts can't be blank")
    return { ids, names: yield* people.load(ids) }
  })

  /** Makes a bulk action that runs per account. A failure does not stop the others; the notice reports it. */
  const each = (
    done: (words: Messages, count: number) => string,
    work: (visit: Visit, id: bigint) => Effect.Effect<void, ClientError>,
    confirm?: (words: Messages, names: string) => Confirmation
  ): Act => ({
    ...(confirm === undefined ? {} : {
      confirm: (visit) => Effect.map(chosen(visit), ({ ids, names }) => confirm(visit.words, named(visit, ids, names)))
    }),
    run: Effect.fnUntraced(function*(visit) {
      const { words } = visit
      const { ids, names } = yield* chosen(visit)
      const refused: Array<{ readonly id: bigint; readonly error: ClientError }> = []
      yield* Effect.forEach(
        ids,
        (id) => Effect.catch(work(visit, id), (error) => Effect.sync(() => refused.push({ id, error }))),
        { concurrency: atOnce, discard: true }
      )
      const [first] = refused
      if (first !== undefined && refused.length === ids.length) return yield* Effect.fail(first.error)
      const notDone = refused.map(({ error, id }) =>
        words.say("Not {name}: {reason}", {
          name: names.handle(id) ?? String(id),
          reason: words.translate(error.message)
        })
      )
      return { notice: [done(words, ids.length - refused.length), ...notDone].join(" ") }
    })
  })

  return staff.page({
    path: "/admin/accounts",
    permission: "manageUsers",
    show,
    acts: {
      approve: each(
        ({ say }, count) => say("{count, plural, one {# account was} other {# accounts were}} approved.", { count }),
        (visit, id) => decisions.approve(visit.by, id)
      ),
      reject: each(
        ({ say }, count) => say("{count, plural, one {# sign-up was} other {# sign-ups were}} rejected.", { count }),
        (visit, id) => decisions.reject(visit.by, id),
        ({ say }, names) => ({
          title: say("Reject sign-ups?"),
          text: say(
            "These sign-ups are removed and the people are notified by email: {names}. This cannot be undone.",
            {
              names
            }
          ),
          button: say("Reject"),
          danger: true
        })
      ),
      silence: each(
        ({ say }, count) => say("{count, plural, one {# account was} other {# accounts were}} limited.", { count }),
        (visit, id) => decisions.take(visit.by, id, { type: "silence", text: "", reportId: null, tells: true }),
        ({ say }, names) => ({
          title: say("Limit these accounts?"),
          text: say(
            "Posts of these accounts are shown only to their followers, and the people are notified: {names}. You can undo this at any time.",
            { names }
          ),
          button: say("Limit"),
          danger: true
        })
      ),
      suspend: each(
        ({ say }, count) => say("{count, plural, one {# account was} other {# accounts were}} suspended.", { count }),
        (visit, id) => decisions.take(visit.by, id, { type: "suspend", text: "", reportId: null, tells: true }),
        ({ say }, names) => ({
          title: say("Suspend these accounts?"),
          text: say(
            "Profiles and posts of these accounts are hidden from everyone, and the people are notified: {names}. You can undo this for 30 days; then all data is deleted.",
            { names }
          ),
          button: say("Suspend"),
          danger: true
        })
      )
    }
  })
})

const named = ({ words }: Visit, ids: ReadonlyArray<bigint>, names: AccountNames): string =>
  words.list(ids.map((id) => names.handle(id) ?? String(id)))

/** List of accounts for moderators, with bulk actions. */
export const layer = Layer.unwrap(make)
