import { Effect, Layer } from "effect"
import type { Page } from "../../../services/database/Paging.ts"
import { auditActions } from "../../../services/staff/AuditActions.ts"
import { AuditEntries, type AuditEntry } from "../../../services/staff/AuditEntries.ts"
import * as Reply from "../../guard/Reply.ts"
import { type Html, html } from "../../html/Html.ts"
import { auditFile } from "../render/AuditFile.ts"
import { pagedList } from "./parts/RowLists.ts"
import { filters, filterSelect, filterText, urlWith } from "./parts/Tables.ts"
import { moment } from "./parts/Texts.ts"
import { StaffPages } from "./StaffPages.ts"
import { idOf, type Visit } from "./StaffVisit.ts"

const path = "/admin/audit_log"

const snake = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
const types = Object.keys(auditActions).map(snake).toSorted()
const actions = [...new Set(Object.values(auditActions).flat())].toSorted()

/** Returns the filter from the query string; an invalid id becomes 0, which matches nothing. */
const wantedIn = ({ query }: Visit) => {
  const id = (name: string) => query.get(name) ? idOf(query.get(name)) ?? 0n : undefined
  return {
    action: query.get("action") || undefined,
    targetType: query.get("target_type") || undefined,
    accountId: id("account_id"),
    targetId: id("target_id")
  }
}

const stateOf = (title: string, state: unknown): Html =>
  state === null || state === undefined
    ? html``
    : html`<details><summary>${title}</summary><pre class="written">${JSON.stringify(state, null, 2)}</pre></details>`

const make = Effect.gen(function*() {
  const entries = yield* AuditEntries
  const staff = yield* StaffPages

  const by = ({ words: { say } }: Visit, { accountId, username }: AuditEntry): Html =>
    accountId === null
      ? html`<span class="soft">${say("The server")}</span>`
      : html`<a href="${path}?account_id=${String(accountId)}"><bdi>@${username ?? ""}</bdi></a>`

  const show = Effect.fnUntraced(function*(visit: Visit) {
    const { words: { say }, words } = visit
    const query = wantedIn(visit)
    const source = { page: (page: Page) => entries.list(query, page), total: entries.total(query) }
    const choices = (
      all: ReadonlyArray<string>,
      any: string
    ) => [["", any] as const, ...all.map((name) => [name, name.replaceAll("_", " ")] as const)]
    const list = yield* pagedList(visit, source, {
      caption: say("Audit log"),
      empty: say("No entries match."),
      headings: [say("Date"), say("Done by"), say("Action"), say("On"), say("Changes")],
      cells: (entry) => [
        moment(words, entry.createdAt),
        by(visit, entry),
        html`${entry.targetType.replaceAll("_", " ")}: ${entry.action.replaceAll("_", " ")}`,
        entry.targetId === null
          ? html`<bdi>${entry.targetLabel}</bdi>`
          : html`<a href="${path}?target_type=${entry.targetType}&target_id=${String(entry.targetId)}"><bdi>${
            entry.targetLabel || String(entry.targetId)
          }</bdi></a>`,
        html`${stateOf(say("Before"), entry.before)}${stateOf(say("After"), entry.after)}`
      ]
    })
    return {
      title: say("Audit log"),
      body: html`${
        filters(
          visit,
          html`${filterSelect(visit, "target_type", say("On"), choices(types, say("Any target")))}${
            filterSelect(visit, "action", say("Action"), choices(actions, say("Any action")))
          }${filterText(visit, "account_id", say("ID of the actor"))}${
            filterText(visit, "target_id", say("ID of the target"))
          }`
        )
      }<p class="row"><a href="${urlWith({ ...visit, path: `${path}/export.csv` }, {})}" download>${
        say("Download as CSV")
      }</a> <span class="soft">${say("The audit log cannot be changed.")}</span></p>${list}`
    }
  })

  const page = staff.page({ path: "/admin/audit_log", permission: "viewAuditLog", show })
  const file = staff.file({
    path: "/admin/audit_log/export.csv",
    permission: "viewAuditLog",
    makeResponse: (visit) =>
      Effect.map(
        auditFile(entries, wantedIn(visit), {}),
        (text) => Reply.file(text, "text/csv; charset=utf-8", "audit_log.csv")
      )
  })
  return Layer.merge(page, file)
})

/** Audit log of staff actions, with actor, target, and the state before and after. */
export const layer = Layer.unwrap(make).pipe(Layer.provide(AuditEntries.layer))
