import { Effect, Layer } from "effect"
import type { Page } from "../../../services/database/Paging.ts"
import { ServerConfig } from "../../../services/instance/ServerConfig.ts"
import { inviteLink, Invites } from "../../../services/invites/Invites.ts"
import type { Messages } from "../../../services/languages/Messages.ts"
import { validationFailed } from "../../../services/runtime/Errors.ts"
import { html } from "../../html/Html.ts"
import { AccountLines } from "../../staff/pages/parts/AccountLines.ts"
import { actButton, button, checkbox, form, select } from "../../staff/pages/parts/Controls.ts"
import { pagedList } from "../../staff/pages/parts/RowLists.ts"
import { badge, moment, section } from "../../staff/pages/parts/Texts.ts"
import { StaffPages } from "../../staff/pages/StaffPages.ts"
import { idOf, type Visit } from "../../staff/pages/StaffVisit.ts"

const path = "/admin/invites"

const uses = ({ say }: Messages) =>
  [1, 5, 10, 25, 50, 100].map((count): readonly [string, string] => [
    String(count),
    say("{count, plural, one {# use} other {# uses}}", { count })
  ])

const times = ({ say }: Messages): ReadonlyArray<readonly [string, string]> => [
  ["1800", say("30 minutes")],
  ["3600", say("1 hour")],
  ["21600", say("6 hours")],
  ["43200", say("12 hours")],
  ["86400", say("1 day")],
  ["604800", say("1 week")]
]

/** Parses a choice from the lists above; null, which means unlimited, if nothing is chosen. */
const figureIn = Effect.fnUntraced(function*(text: string | null, name: string) {
  if (text === null || text === "") return null
  return /^\d{1,6}$/.test(text) ? Number(text) : yield* validationFailed(`${name} is not included in the list`)
})

const make = Effect.gen(function*() {
  const invites = yield* Invites
  const people = yield* AccountLines
  const staff = yield* StaffPages
  const { publicUrl } = yield* ServerConfig

  /** Reads a page of invites with their inviters. */
  const page = Effect.fnUntraced(function*(query: Page) {
    const found = yield* invites.list(query)
    const names = yield* people.load(found.map(({ accountId }) => accountId))
    return found.map((invite) => ({ id: invite.id, invite, inviter: names.line(invite.accountId) }))
  })

  const show = Effect.fnUntraced(function*(visit: Visit) {
    const { words: { figure, say }, words } = visit
    const list = yield* pagedList(visit, { page, total: invites.total }, {
      caption: say("Invites"),
      empty: say("No invites yet."),
      headings: [say("Invite"), say("Created by"), say("Used"), say("Ends"), say("Actions")],
      cells: ({ id, invite, inviter }) => [
        html`<code>${inviteLink(publicUrl, invite.code)}</code> ${
          invite.valid ? badge(say("Valid"), "good") : badge(say("Expired"))
        }${invite.autofollow ? html` ${badge(say("Follow the inviter"))}` : ""}`,
        inviter,
        invite.maxUses === null
          ? figure(invite.uses)
          : say("{uses} of {max}", { uses: figure(invite.uses), max: figure(invite.maxUses) }),
        invite.expiresAt === null ? say("Never") : moment(words, invite.expiresAt),
        invite.valid ? actButton(visit, "end", say("Revoke"), { kind: "danger", fields: { id: String(id) } }) : ""
      ]
    })
    return {
      title: say("Invites"),
      body: html`${
        section(
          say("New invite"),
          form(
            visit,
            html`${
              select(visit, {
                name: "max_uses",
                label: say("Max uses"),
                choices: [["", say("Unlimited uses")], ...uses(words)]
              })
            }${
              select(visit, {
                name: "expires_in",
                label: say("Expires after"),
                choices: [["", say("Never expires")], ...times(words)]
              })
            }${checkbox(visit, { name: "autofollow", label: say("New members follow you") })}<p class="soft">${
              say("People can sign up with it in every registration mode.")
            }</p>${button("create", say("Create the invite"), "main")}`
          )
        )
      }${list}`
    }
  })

  return staff.page({
    path: "/admin/invites",
    permission: "manageInvites",
    show,
    acts: {
      create: {
        run: Effect.fnUntraced(function*({ by, form: sent, words }) {
          const invite = yield* invites.create(by, {
            maxUses: yield* figureIn(sent.get("max_uses"), "Max uses"),
            expiresIn: yield* figureIn(sent.get("expires_in"), "Expires in"),
            autofollow: sent.get("autofollow") === "yes"
          })
          return {
            notice: words.say("Invite link: {address}", { address: inviteLink(publicUrl, invite.code) }),
            to: path
          }
        })
      },
      end: {
        confirm: ({ words: { say } }) =>
          Effect.succeed({
            title: say("Revoke this invite?"),
            text: say("Nobody can sign up with it any more. Accounts created with it remain. This cannot be undone."),
            button: say("Revoke"),
            danger: true
          }),
        run: Effect.fnUntraced(function*({ by, form: sent, words }) {
          yield* invites.end(by, idOf(sent.get("id")) ?? 0n)
          return { notice: words.say("The invite was revoked.") }
        })
      }
    }
  })
})

/** Invites of all users, and a form for new ones of the visitor. */
export const layer = Layer.unwrap(make)
