import { Effect, Layer } from "effect"
import { DomainActors } from "../../../actors/domain/DomainActors.ts"
import { type Relay, Relays } from "../../../services/federation/relays/Relays.ts"
import { RemoteLookup } from "../../../services/federation/RemoteLookup.ts"
import type { Messages } from "../../../services/languages/Messages.ts"
import { validationFailed } from "../../../services/runtime/Errors.ts"
import { type Html, html } from "../../html/Html.ts"
import { actButton, button, form, select, textField } from "./parts/Controls.ts"
import { wholeList } from "./parts/RowLists.ts"
import { badge, moment, section } from "./parts/Texts.ts"
import { StaffPages } from "./StaffPages.ts"
import { idOf, type Visit } from "./StaffVisit.ts"

const path = "/admin/relays"

const states: Readonly<Record<Relay["state"], (words: Messages) => Html>> = {
  idle: ({ say }) => badge(say("Disabled")),
  pending: ({ say }) => badge(say("Waiting for acceptance"), "warn"),
  accepted: ({ say }) => badge(say("Enabled"), "good"),
  rejected: ({ say }) => badge(say("Rejected by the relay"), "bad")
}

const make = Effect.gen(function*() {
  const actors = yield* DomainActors
  const lookup = yield* RemoteLookup
  const relays = yield* Relays
  const staff = yield* StaffPages

  const show = Effect.fnUntraced(function*(visit: Visit) {
    const { words: { say }, words } = visit
    const list = wholeList(visit, yield* relays.list, {
      caption: say("Relays"),
      empty: say("No relays yet."),
      headings: [say("Relay"), say("State"), say("Since"), say("Actions")],
      cells: ({ createdAt, id, inboxUrl, kind, state }) => {
        const fields = { id: String(id) }
        return [
          html`${inboxUrl}<span class="hint">${kind === "mastodon" ? "Mastodon" : "LitePub"}</span>`,
          states[state](words),
          moment(words, createdAt),
          html`<div class="row">${
            state === "idle" || state === "rejected"
              ? actButton(visit, "enable", say("Enable"), { fields })
              : actButton(visit, "disable", say("Disable"), { fields })
          }${actButton(visit, "remove", say("Remove"), { kind: "danger", fields })}</div>`
        ]
      }
    })
    return {
      title: say("Relays"),
      body: html`<p class="soft">${
        say("A relay receives all public posts of this server, and sends those of the other participating servers.")
      }</p>${
        section(
          say("New relay"),
          form(
            visit,
            html`${
              select(visit, {
                name: "kind",
                label: say("Kind"),
                choices: [["inbox", say("Mastodon: inbox URL")], ["actor", say("LitePub: actor URL")]]
              })
            }${textField(visit, { name: "url", type: "url", label: say("Address"), required: true })}${
              button("create", say("Subscribe to the relay"), "main")
            }`
          )
        )
      }${list}`
    }
  })

  const relayAct = (name: "disable" | "enable") =>
    Effect.fnUntraced(function*({ by, form: sent, words }: Visit) {
      const { hosts, relay } = yield* relays[name](by, idOf(sent.get("id")) ?? 0n)
      yield* actors.wake(hosts)
      return {
        notice: name === "enable"
          ? words.say("The subscription request was sent.")
          : words.say("The relay was disabled."),
        undo: { path, act: name === "enable" ? "disable" : "enable", fields: { id: String(relay.id) } }
      }
    })

  return staff.page({
    path: "/admin/relays",
    permission: "manageFederation",
    show,
    acts: {
      create: {
        run: Effect.fnUntraced(function*({ by, form: sent, words }) {
          const url = sent.get("url")?.trim() ?? ""
          const found = sent.get("kind") === "actor" ? yield* lookup.resolve(by, url) : undefined
          if (sent.get("kind") === "actor" && found?.kind !== "account") {
            return yield* validationFailed("Actor url is invalid")
          }
          const { hosts } = yield* relays.create(by, found === undefined ? { inboxUrl: url } : { accountId: found.id })
          yield* actors.wake(hosts)
          return { notice: words.say("The subscription request was sent.") }
        })
      },
      enable: { run: relayAct("enable") },
      disable: { run: relayAct("disable") },
      remove: {
        confirm: ({ words: { say } }) =>
          Effect.succeed({
            title: say("Remove this relay?"),
            text: say("The relay no longer receives public posts or sends any. Posts already received remain."),
            button: say("Remove"),
            danger: true
          }),
        run: Effect.fnUntraced(function*({ by, form: sent, words }) {
          yield* actors.wake(yield* relays.remove(by, idOf(sent.get("id")) ?? 0n))
          return { notice: words.say("The relay was removed.") }
        })
      }
    }
  })
})

/** Relays, which distribute public posts between servers. */
export const layer = Layer.unwrap(make).pipe(Layer.provide(Relays.layer))
