import { Clock, Effect, Layer } from "effect"
import { AccountActors } from "../../../actors/account/core/AccountActors.ts"
import type { Command } from "../../../actors/account/core/AccountProtocol.ts"
import { AccountId, parseId } from "../../../services/database/Ids.ts"
import { Accounts } from "../../../services/identity/Accounts.ts"
import type { Messages } from "../../../services/languages/Messages.ts"
import { type ClientError, RecordNotFound } from "../../../services/runtime/Errors.ts"
import { Blocks } from "../../../services/social/Blocks.ts"
import { Mutes } from "../../../services/social/Mutes.ts"
import { hidden } from "../../html/Forms.ts"
import { html } from "../../html/Html.ts"
import { AccountViews } from "../../render/AccountViews.ts"
import { accountRows } from "../../render/PageSizes.ts"
import { read } from "../../wire/Keys.ts"
import { pageOf, pagingLinks } from "../shell/CursorPaging.ts"
import type { MemberVisit } from "../shell/Visit.ts"
import { plainName } from "../status/StatusText.ts"
import type { Filled } from "./Filled.ts"
import { choice, form, textField } from "./FormFields.ts"
import { personRow } from "./PersonRow.ts"
import * as SettingPages from "./SettingPages.ts"

/** Durations of mutes that the form offers, in seconds. */
const durations = [3_600, 21_600, 86_400, 604_800, 2_592_000] as const

interface Hidden {
  readonly cursor: bigint
  readonly accountId: bigint
  /** End of a mute; null for none. */
  readonly expiresAt: Date | null
}

interface List {
  readonly path: `/${string}`
  readonly title: (words: Messages) => string
  readonly explanation: (words: Messages) => string
  readonly add: (words: Messages) => string
  readonly end: (words: Messages) => string
  readonly page: (visit: MemberVisit) => Effect.Effect<ReadonlyArray<Hidden>, ClientError>
  readonly adding: (target: AccountId, sent: URLSearchParams) => Command
  readonly ending: (target: AccountId) => Command
  readonly timed: boolean
}

const make = Effect.gen(function*() {
  const accounts = yield* Accounts
  const actors = yield* AccountActors
  const blocks = yield* Blocks
  const mutes = yield* Mutes
  const page = yield* SettingPages.make
  const views = yield* AccountViews

  const listPage = ({ add, adding, end, ending, explanation, page: entriesOf, path, timed, title }: List) => {
    const show = Effect.fnUntraced(function*(visit: MemberVisit, filled: Filled) {
      const { words: { moment, say }, words } = visit.reader
      const now = yield* Clock.currentTimeMillis
      const rows = yield* entriesOf(visit)
      const found = yield* views.byId(rows.map(({ accountId }) => accountId))
      return html`<p class="soft">${explanation(words)}</p>
<ul class="people">${
        rows.flatMap(({ accountId, expiresAt }) => {
          const json = found.get(accountId)
          if (json === undefined) return []
          const account = read(json)
          return html`<li>${
            personRow(visit, account, {
              ...(expiresAt !== null && expiresAt.getTime() > now && {
                below: html` <span class="soft">· ${say("Until {moment}", { moment: moment(expiresAt) })}</span>`
              }),
              after: form(visit, hidden("id", String(accountId)), {
                act: "end",
                button: end(words),
                label: `${end(words)}: ${plainName(account)}`
              })
            })
          }</li>`
        })
      }</ul>
${rows.length === 0 ? html`<p class="soft">${say("Nothing here yet.")}</p>` : ""}
${pagingLinks(visit, pageOf(visit, accountRows), rows.map(({ cursor }) => cursor))}
<h2>${add(words)}</h2>
${
        form(
          visit,
          html`${
            textField("account", say("Handle"), filled.text("account", ""), {
              required: true,
              hint: say("For example {handle}", { handle: "@name@server.example" })
            })
          }${
            timed
              ? html`${
                choice("seconds", say("Duration"), filled.text("seconds", "0"), [
                  ["0", say("Until you end it")],
                  ...durations.map((seconds) => {
                    const hours = seconds / 3_600
                    return [
                      String(seconds),
                      hours < 24
                        ? say("{hours, plural, one {# hour} other {# hours}}", { hours })
                        : say("{days, plural, one {# day} other {# days}}", { days: hours / 24 })
                    ] as const
                  })
                ])
              }${
                choice("notifications", say("Notifications"), filled.text("notifications", "hide"), [
                  ["hide", say("Mute notifications, too")],
                  ["show", say("Keep notifications")]
                ])
              }`
              : ""
          }`,
          { act: "add", button: add(words), danger: true }
        )
      }`
    })
    return page({
      path,
      title,
      show,
      acts: {
        add: Effect.fnUntraced(function*({ viewer }, sent) {
          const target = yield* accounts.lookup((sent.get("account") ?? "").trim().replace(/^@/, ""))
          yield* actors.tell(viewer, adding(target, sent))
        }),
        end: Effect.fnUntraced(function*({ viewer }, sent) {
          const id = parseId(sent.get("id"))
          if (id === undefined) return yield* new RecordNotFound()
          yield* actors.tell(viewer, ending(AccountId.make(id)))
        })
      }
    })
  }

  return Layer.mergeAll(
    listPage({
      path: "/blocks",
      title: ({ say }) => say("Blocked accounts"),
      explanation: ({ say }) =>
        say("Blocked accounts cannot follow you or see your posts, and you see nothing from them."),
      add: ({ say }) => say("Block an account"),
      end: ({ say }) => say("Unblock"),
      page: (visit) =>
        Effect.map(
          blocks.page(visit.viewer, pageOf(visit, accountRows)),
          (rows) => rows.map((row) => ({ ...row, expiresAt: null }))
        ),
      adding: (target) => ({ _tag: "Block", target }),
      ending: (target) => ({ _tag: "Unblock", target }),
      timed: false
    }),
    listPage({
      path: "/mutes",
      title: ({ say }) => say("Muted accounts"),
      explanation: ({ say }) => say("You see nothing from muted accounts. They are not told."),
      add: ({ say }) => say("Mute an account"),
      end: ({ say }) => say("Unmute"),
      page: (visit) => mutes.page(visit.viewer, pageOf(visit, accountRows)),
      adding: (target, sent) => ({
        _tag: "Mute",
        target,
        notifications: sent.get("notifications") !== "show",
        replies: false,
        seconds: durations.find((one) => String(one) === sent.get("seconds")) ?? 0
      }),
      ending: (target) => ({ _tag: "Unmute", target }),
      timed: true
    })
  )
})

/** Lists of blocked and muted accounts, with forms to add to them and to end entries. */
export const layer = Layer.unwrap(make).pipe(Layer.provide(AccountViews.layer))
