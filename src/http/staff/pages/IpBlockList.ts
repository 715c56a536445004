import { Effect, Layer, Option } from "effect"
import { HttpServerRequest } from "effect/http"
import type { Messages } from "../../../services/languages/Messages.ts"
import { type IpBlockSeverity, isBroad, networkOf } from "../../../services/moderation/AddressRules.ts"
import { type IpBlock, IpBlocks } from "../../../services/moderation/IpBlocks.ts"
import { type Html, html } from "../../html/Html.ts"
import { button, form, select, textArea, textField } from "./parts/Controls.ts"
import { eachChosen } from "./parts/Each.ts"
import { pagedList } from "./parts/RowLists.ts"
import { badge, moment, section } from "./parts/Texts.ts"
import { StaffPages } from "./StaffPages.ts"
import { requireId, type Visit } from "./StaffVisit.ts"

const path = "/admin/ip_blocks"

const severities: Readonly<Record<IpBlockSeverity, (words: Pick<Messages, "say">) => string>> = {
  ["sign_up_requires_approval"]: ({ say }) => say("Sign-ups need approval"),
  ["sign_up_block"]: ({ say }) => say("No sign-ups"),
  ["no_access"]: ({ say }) => say("No access")
}

const fields = (visit: Visit, block?: IpBlock): Html => {
  const { words: { say }, words } = visit
  return html`${
    textField(visit, {
      name: "ip",
      label: say("IP address or network"),
      hint: say("For example 192.0.2.1, 192.0.2.0/24 or 2001:db8::/32"),
      value: block?.ip ?? visit.query.get("ip") ?? "",
      required: true
    })
  }${
    select(visit, {
      name: "severity",
      label: say("Restriction"),
      value: block?.severity ?? "sign_up_requires_approval",
      choices: Object.entries(severities).map(([name, label]) => [name, label(words)] as const)
    })
  }${
    select(visit, {
      name: "expires_in",
      label: say("Duration"),
      choices: [
        ...(block === undefined ? [] : [["", say("Unchanged")] as const]),
        ["86400", say("1 day")],
        ["1209600", say("2 weeks")],
        ["2629746", say("1 month")],
        ["15778476", say("6 months")],
        ["31556952", say("1 year")],
        ["94670856", say("3 years")],
        ["0", say("Never expires")]
      ]
    })
  }${textArea(visit, { name: "comment", label: say("Staff note"), value: block?.comment ?? "", rows: 2 })}`
}

/** Returns the change in the form; a missing duration leaves the expiry unchanged, and 0 means never. */
const wishIn = ({ form: sent }: Visit) => {
  const time = sent.get("expires_in") ?? ""
  const seconds = /^\d{1,9}$/.test(time) ? Number(time) : undefined
  return {
    ip: sent.get("ip") ?? "",
    severity: sent.get("severity") ?? "",
    comment: sent.get("comment") ?? "",
    confirmed: sent.get("confirmed") === "yes",
    expiresInSeconds: seconds === 0 ? null : seconds
  }
}

/** Asks for confirmation of a block that covers a large part of all addresses; undefined for any other network. */
const broadConfirmation = (say: Messages["say"], sent: URLSearchParams) => {
  const network = networkOf(sent.get("ip")?.trim() ?? "")
  return network === undefined || !isBroad(network) ? undefined : {
    title: say("Block {domain}?", { domain: network }),
    text: say("This network covers a large share of all addresses. The block affects most people."),
    button: say("Block"),
    danger: true
  }
}

const authorOf = Effect.fnUntraced(function*({ by }: Visit) {
  const { remoteAddress } = yield* HttpServerRequest.HttpServerRequest
  return { by, address: Option.getOrUndefined(remoteAddress) }
})

const make = Effect.gen(function*() {
  const blocks = yield* IpBlocks
  const staff = yield* StaffPages

  const list = staff.page({
    path: "/admin/ip_blocks",
    permission: "manageBlocks",
    show: Effect.fnUntraced(function*(visit) {
      const { words: { say }, words } = visit
      const listed = yield* pagedList(visit, blocks, {
        caption: say("Blocked IP addresses"),
        empty: say("No IP addresses are blocked."),
        headings: [say("Address"), say("State"), say("Ends")],
        cells: (block) => [
          html`<a href="${path}/${String(block.id)}">${block.ip}</a>${
            block.comment === "" ? "" : html`<span class="hint" dir="auto">${block.comment}</span>`
          }`,
          badge(severities[block.severity](words), block.severity === "no_access" ? "bad" : "warn"),
          block.expiresAt === null ? say("Never") : moment(words, block.expiresAt)
        ],
        selected: { name: ({ ip }) => ip, buttons: button("remove", say("Unblock")) }
      })
      return {
        title: say("Blocked IP addresses"),
        body: html`${
          section(say("New block"), form(visit, html`${fields(visit)}${button("create", say("Block"), "danger")}`))
        }${listed}`
      }
    }),
    acts: {
      create: {
        confirm: ({ form: sent, words: { say } }) =>
          Effect.succeed(
            broadConfirmation(say, sent) ?? (sent.get("severity") !== "no_access" ? undefined : {
              title: say("Block {domain}?", { domain: sent.get("ip") ?? "" }),
              text: say(
                "Nobody can use this server from there, with or without an account. You can undo this at any time."
              ),
              button: say("Block"),
              danger: true
            })
          ),
        run: Effect.fnUntraced(function*(visit) {
          const { id, ip } = yield* blocks.create(yield* authorOf(visit), wishIn(visit))
          return {
            notice: visit.words.say("{address} is blocked.", { address: ip }),
            to: path,
            undo: { path: `${path}/${id}`, act: "remove" }
          }
        })
      },
      remove: {
        run: Effect.fnUntraced(function*(visit) {
          const author = yield* authorOf(visit)
          return yield* eachChosen(
            visit,
            (id) => blocks.remove(author, id),
            ({ say }, count) =>
              say("{count, plural, one {# address was} other {# addresses were}} unblocked.", { count })
          )
        })
      }
    }
  })

  const one = staff.page({
    path: "/admin/ip_blocks/:id",
    permission: "manageBlocks",
    show: Effect.fnUntraced(function*(visit) {
      const { words: { say } } = visit
      const block = yield* blocks.find(yield* requireId(visit))
      return {
        title: block.ip,
        body: html`${
          section(
            say("Block"),
            form(
              visit,
              html`${fields(visit, block)}<p class="row">${button("save", say("Save"), "main")}${
                button("remove", say("Unblock"), "danger")
              }</p>`
            )
          )
        }<p><a href="${path}">${say("Blocked IP addresses")}</a></p>`
      }
    }),
    acts: {
      save: {
        confirm: Effect.fnUntraced(function*(visit) {
          const { ip } = yield* blocks.find(yield* requireId(visit))
          const asked = broadConfirmation(visit.words.say, visit.form)
          return networkOf(visit.form.get("ip")?.trim() ?? "") === ip ? undefined : asked
        }),
        run: Effect.fnUntraced(function*(visit) {
          yield* blocks.update(yield* authorOf(visit), yield* requireId(visit), wishIn(visit))
          return { notice: visit.words.say("The block was changed."), to: path }
        })
      },
      remove: {
        run: Effect.fnUntraced(function*(visit) {
          const { comment, id, ip, severity } = yield* blocks.find(yield* requireId(visit))
          yield* blocks.remove(yield* authorOf(visit), id)
          return {
            notice: visit.words.say("{address} is no longer blocked.", { address: ip }),
            to: path,
            undo: { path, act: "create", fields: { ip, severity, comment, ["expires_in"]: "0" } }
          }
        })
      }
    }
  })
  return Layer.merge(list, one)
})

/** IP blocks: networks that may not sign up, or not connect at all. */
export const layer = Layer.unwrap(make).pipe(Layer.provide(IpBlocks.layer))
