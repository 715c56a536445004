import { Effect, Layer } from "effect"
import { DomainAllows } from "../../../services/federation/domains/DomainAllows.ts"
import { ServerConfig } from "../../../services/instance/ServerConfig.ts"
import { html } from "../../html/Html.ts"
import { actButton, button, form, textField } from "./parts/Controls.ts"
import { pagedList } from "./parts/RowLists.ts"
import { suffixConfirmation } from "./parts/SuffixConfirmation.ts"
import { moment, section } from "./parts/Texts.ts"
import { StaffPages } from "./StaffPages.ts"
import { idOf, type Visit } from "./StaffVisit.ts"

const path = "/admin/domain_allows"

const make = Effect.gen(function*() {
  const allows = yield* DomainAllows
  const staff = yield* StaffPages
  const { limitedFederation } = yield* ServerConfig

  const show = Effect.fnUntraced(function*(visit: Visit) {
    const { words: { say }, words } = visit
    const list = yield* pagedList(visit, allows, {
      caption: say("Allowed servers"),
      empty: say("The list is empty."),
      headings: [say("Server"), say("Since"), say("Actions")],
      cells: ({ createdAt, domain, id }) => [
        html`<a href="/admin/instances/${domain}">${domain}</a>`,
        moment(words, createdAt),
        actButton(visit, "remove", say("Remove"), { kind: "danger", fields: { id: String(id) } })
      ]
    })
    return {
      title: say("Allowed servers"),
      body: html`<p class="soft">${
        limitedFederation
          ? say("This server federates only with servers on this list.")
          : say("Limited federation is off: this list has no effect.")
      }</p>${
        section(
          say("Allow a server"),
          form(
            visit,
            html`${textField(visit, { name: "domain", label: say("Domain"), required: true })}${
              button("create", say("Allow"), "main")
            }`
          )
        )
      }${list}`
    }
  })

  return staff.page({
    path: "/admin/domain_allows",
    permission: "manageFederation",
    show,
    acts: {
      create: {
        confirm: ({ form: sent, words: { say } }) => Effect.succeed(suffixConfirmation(say, sent)),
        run: Effect.fnUntraced(function*({ by, form: sent, words }) {
          const confirmed = sent.get("confirmed") === "yes"
          const { domain, id } = yield* allows.allow(sent.get("domain") ?? "", { by, confirmed })
          return {
            notice: words.say("{domain} was added to the list.", { domain }),
            undo: { path, act: "remove", fields: { id: String(id) } }
          }
        })
      },
      remove: {
        confirm: ({ words: { say } }) =>
          Effect.succeed({
            title: say("Remove this server from the list?"),
            text: limitedFederation
              ? say("This server will no longer exchange anything with it.")
              : say("Nothing changes unless limited federation is on."),
            button: say("Remove"),
            danger: true
          }),
        run: Effect.fnUntraced(function*({ by, form: sent, words }) {
          const { domain, id } = yield* allows.find(idOf(sent.get("id")) ?? 0n)
          yield* allows.remove(id, by)
          return {
            notice: words.say("{domain} was removed from the list.", { domain }),
            undo: { path, act: "create", fields: { domain } }
          }
        })
      }
    }
  })
})

/** Allowed servers in limited federation mode. */
export const layer = Layer.unwrap(make).pipe(Layer.provide(DomainAllows.layer))
