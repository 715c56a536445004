import { Clock, Effect, Layer } from "effect"
import { DomainActors } from "../../../actors/domain/DomainActors.ts"
import { Measures } from "../../../services/metrics/Measures.ts"
import { periodOf } from "../../../services/metrics/Period.ts"
import { type DeliveryHost, HostDeliveries } from "../../../services/moderation/HostDeliveries.ts"
import { InstanceNotes } from "../../../services/moderation/InstanceNotes.ts"
import { RecordNotFound } from "../../../services/runtime/Errors.ts"
import { type Html, html } from "../../html/Html.ts"
import { AccountLines } from "./parts/AccountLines.ts"
import { actButton, button, form, textArea } from "./parts/Controls.ts"
import { measureNames } from "./parts/MeasureNames.ts"
import { emptyList, pageOf, pager, table, tabs, total } from "./parts/Tables.ts"
import { badge, definitions, moment, section, userText } from "./parts/Texts.ts"
import { StaffPages } from "./StaffPages.ts"
import { idOf, type Visit } from "./StaffVisit.ts"

const path = "/admin/instances"
/** Days covered by the figures on a server's page. */
const days = 30
const counted = [
  "instance_accounts",
  "instance_statuses",
  "instance_follows",
  "instance_followers",
  "instance_media_attachments",
  "instance_reports"
] as const

const stateOf = ({ words: { say } }: Visit, { failedDays, pausedBy }: DeliveryHost): Html =>
  pausedBy !== null
    ? badge(say("Paused"), "bad")
    : failedDays > 0
    ? badge(say("{days, plural, one {Failing for # day} other {Failing for # days}}", { days: failedDays }), "warn")
    : badge(say("Reachable"), "good")

const make = Effect.gen(function*() {
  const actors = yield* DomainActors
  const deliveries = yield* HostDeliveries
  const measures = yield* Measures
  const notes = yield* InstanceNotes
  const people = yield* AccountLines
  const staff = yield* StaffPages

  const list = staff.page({
    path: "/admin/instances",
    permission: "manageFederation",
    show: Effect.fnUntraced(function*(visit) {
      const { query, words: { figure, say }, words } = visit
      const failing = query.get("failing") === "yes"
      const found = yield* deliveries.page(pageOf(visit), failing)
      const [all, failed] = yield* Effect.all([deliveries.total(false), deliveries.total(true)])
      const rows = found.map((host) => [
        html`<a href="${path}/${host.host}">${host.host}</a>`,
        stateOf(visit, host),
        figure(host.waiting),
        moment(words, host.succeededAt)
      ])
      return {
        title: say("Other servers"),
        body: html`<form method="get" action="${path}/look" class="filters" role="search"><label>${
          say("Domain")
        }<input type="search" name="domain" required></label><p><button type="submit" class="quiet">${
          say("Look it up")
        }</button></p></form>${
          tabs(visit, "failing", [["", say("All"), all], ["yes", say("Failing or paused"), failed]])
        }${total(visit, failing ? failed : all)}${
          rows.length === 0 ? emptyList(say("No servers match.")) : table(
            [say("Server"), say("Deliveries"), say("Pending"), say("Last successful delivery")],
            rows,
            say("Other servers")
          )
        }${pager(visit, found.map(({ id }) => id))}`
      }
    })
  })

  const deliveriesOf = Effect.fnUntraced(function*(visit: Visit, domain: string) {
    const { words: { figure, say }, words } = visit
    const host = yield* deliveries.find(domain).pipe(Effect.catchTag("RecordNotFound", () => Effect.undefined))
    return host === undefined ? emptyList(say("Nothing has been delivered there yet.")) : html`${
      definitions([
        [say("State"), stateOf(visit, host)],
        [say("Pending"), figure(host.waiting)],
        [say("Last successful delivery"), moment(words, host.succeededAt)],
        [say("Last failure"), host.error ?? undefined]
      ])
    }<div class="row">${host.pausedBy === null ? actButton(visit, "stop", say("Pause"), { kind: "danger" }) : ""}${
      actButton(visit, "restart", say("Retry now"))
    }${host.failedDays === 0 ? "" : actButton(visit, "clear", say("Clear failures"))}</div>`
  })

  const figuresOf = Effect.fnUntraced(function*(visit: Visit, domain: string) {
    const { words: { figure }, words } = visit
    const now = yield* Clock.currentTimeMillis
    const period = periodOf(new Date(now - (days - 1) * 86_400_000), new Date(now))
    if (period === undefined) return html``
    const found = yield* Effect.forEach(
      counted,
      (key) => measures.of(key, period, { domain, includeSubdomains: false })
    )
    return definitions(
      found.flatMap((measure) =>
        measure === undefined ? [] : [
          [
            measureNames(words, measure.key),
            figure(Number(measure.total))
          ] as const
        ]
      )
    )
  })

  const domainIn = ({ params }: Visit) => decodeURIComponentSafe(params["domain"] ?? "")
  const deliveryAct = (name: "clear" | "restart" | "stop") =>
    Effect.fnUntraced(function*(visit: Visit) {
      const { host } = yield* deliveries[name](visit.by, domainIn(visit))
      if (name !== "stop") yield* actors.wake([host])
      const { say } = visit.words
      return name === "stop"
        ? { notice: say("Deliveries there are paused."), undo: { path: visit.path, act: "restart" } }
        : name === "restart"
        ? { notice: say("Pending deliveries are retried."), undo: { path: visit.path, act: "stop" } }
        : { notice: say("The failures were cleared.") }
    })

  const one = staff.page({
    path: "/admin/instances/:domain",
    permission: "manageFederation",
    show: Effect.fnUntraced(function*(visit) {
      const { query, words: { say }, words } = visit
      const domain = domainIn(visit) === "look" ? query.get("domain")?.trim() ?? "" : domainIn(visit)
      const found = yield* notes.page(domain, pageOf(visit)).pipe(
        // An invalid domain is not found.
        Effect.catchTag("Unprocessable", () => Effect.fail(new RecordNotFound()))
      )
      const names = yield* people.load(found.map(({ accountId }) => accountId))
      return {
        title: domain,
        body: html`<div class="columns"><div>${section(say("Deliveries"), yield* deliveriesOf(visit, domain))}${
          section(say("Data stored here"), yield* figuresOf(visit, domain))
        }<p class="row"><a href="/admin/accounts?domain=${encodeURIComponent(domain)}">${
          say("Accounts")
        }</a> <a href="/admin/domain_blocks/new?domain=${encodeURIComponent(domain)}">${
          say("Block a server")
        }</a></p></div><div>${
          section(
            say("Staff notes"),
            html`<ul class="notes">${
              found.map(({ accountId, content, createdAt, id }) =>
                html`<li>${userText(content)}<div class="row">${names.line(accountId)} <span class="soft">${
                  moment(words, createdAt)
                }</span>${
                  actButton(visit, "removeNote", say("Remove"), {
                    kind: "danger",
                    path: `${path}/${domain}`,
                    fields: { id: String(id) }
                  })
                }</div></li>`
              )
            }</ul>${
              form(
                visit,
                html`${textArea(visit, { name: "content", label: say("New note"), rows: 2, max: 2_000 })}${
                  button("note", say("Add note"))
                }`,
                `${path}/${domain}`
              )
            }${pager(visit, found.map(({ id }) => id))}`
          )
        }</div></div>`
      }
    }),
    acts: {
      stop: {
        confirm: (visit) =>
          Effect.succeed({
            title: visit.words.say("Pause deliveries to {domain}?", { domain: domainIn(visit) }),
            text: visit.words.say(
              "Posts are kept until you resume deliveries; those that expire before then are dropped."
            ),
            button: visit.words.say("Pause"),
            danger: true
          }),
        run: deliveryAct("stop")
      },
      restart: { run: deliveryAct("restart") },
      clear: { run: deliveryAct("clear") },
      note: {
        run: Effect.fnUntraced(function*(visit) {
          const { id } = yield* notes.create(visit.by, domainIn(visit), visit.form.get("content") ?? "")
          return {
            notice: visit.words.say("The note was added."),
            undo: { path: visit.path, act: "removeNote", fields: { id: String(id) } }
          }
        })
      },
      removeNote: {
        run: Effect.fnUntraced(function*(visit) {
          yield* notes.remove(visit.by, domainIn(visit), idOf(visit.form.get("id")) ?? 0n)
          return { notice: visit.words.say("The note was deleted.") }
        })
      }
    }
  })
  return Layer.merge(list, one)
})

/** Decodes a path segment; returns "", which is no domain, if it is malformed. */
const decodeURIComponentSafe = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return ""
  }
}

/** Remote servers: deliveries, figures and notes of staff. */
export const layer = Layer.unwrap(make).pipe(
  Layer.provide([HostDeliveries.layer, InstanceNotes.layer, Measures.layer])
)
