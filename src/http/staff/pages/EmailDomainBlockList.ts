import { Effect, Layer } from "effect"
import type { Page } from "../../../services/database/Paging.ts"
import { EmailDomainBlocks, historyDays } from "../../../services/moderation/EmailDomainBlocks.ts"
import { type Html, html } from "../../html/Html.ts"
import { actButton, button, checkbox, form } from "./parts/Controls.ts"
import { pagedList } from "./parts/RowLists.ts"
import { suffixConfirmation } from "./parts/SuffixConfirmation.ts"
import { badge, moment, section } from "./parts/Texts.ts"
import { StaffPages } from "./StaffPages.ts"
import { idOf, type Visit } from "./StaffVisit.ts"

const path = "/admin/email_domain_blocks"

const make = Effect.gen(function*() {
  const blocks = yield* EmailDomainBlocks
  const staff = yield* StaffPages

  /** Returns checkboxes for the mail servers of a domain, so that staff can block them, too. */
  const hosts = Effect.fnUntraced(function*(visit: Visit, domain: string) {
    const { words: { say } } = visit
    const found = yield* blocks.exchanges(domain)
    return found.length === 0 ?
      html`<p class="soft">${say("The domain has no mail servers.")}</p>` :
      html`<fieldset><legend>${say("Mail servers of the domain; block the selected ones, too:")}</legend>${
        found.map((host) => checkbox(visit, { name: "other_domains[]", value: host, label: host, checked: false }))
      }</fieldset>`
  })

  /** Reads a page of blocks with their uses in the last days. */
  const page = Effect.fnUntraced(function*(query: Page) {
    const found = yield* blocks.page(query)
    const days = Map.groupBy(yield* blocks.history(found.map(({ id }) => id)), ({ blockId }) => blockId)
    return found.map((block) => ({
      id: block.id,
      block,
      uses: (days.get(block.id) ?? []).reduce((sum, { uses }) => sum + uses, 0)
    }))
  })

  const show = Effect.fnUntraced(function*(visit: Visit) {
    const { query, words: { figure, say }, words } = visit
    const list = yield* pagedList(visit, { page, total: blocks.total }, {
      caption: say("Blocked email providers"),
      empty: say("No email providers are blocked."),
      headings: [say("Domain"), say("Sign-ups in {days} days", { days: historyDays }), say("Since"), say("Actions")],
      cells: ({ block, id, uses }) => [
        html`${block.domain}${block.allowWithApproval ? html` ${badge(say("Needs approval"), "warn")}` : ""}`,
        figure(uses),
        moment(words, block.createdAt),
        actButton(visit, "remove", say("Remove"), { kind: "danger", fields: { id: String(id) } })
      ]
    })
    const asked = query.get("domain")?.trim() ?? ""
    const exchanges: Html = asked === "" ? html`` : yield* Effect.catch(
      hosts(visit, asked),
      (error) => Effect.succeed(html`<p class="problem">${words.translate(error.message)}</p>`)
    )
    return {
      title: say("Blocked email providers"),
      body: html`<p class="soft">${
        say("Nobody can sign up with an address at these domains or their subdomains.")
      }</p>${
        section(
          say("New block"),
          html`<form method="get" action="${path}"><label>${
            say("Domain")
          }<input name="domain" value="${asked}" required></label><button type="submit" class="quiet">${
            say("Look up mail servers")
          }</button></form>${
            asked === "" ? "" : form(
              visit,
              html`<input type="hidden" name="domain" value="${asked}">${exchanges}${
                checkbox(visit, {
                  name: "allow_with_approval",
                  label: say("Allow sign-ups with approval")
                })
              }${button("create", say("Block {domain}", { domain: asked }), "danger")}`
            )
          }`
        )
      }${list}`
    }
  })

  return staff.page({
    path: "/admin/email_domain_blocks",
    permission: "manageBlocks",
    show,
    acts: {
      create: {
        confirm: ({ form: sent, words: { say } }) => Effect.succeed(suffixConfirmation(say, sent)),
        run: Effect.fnUntraced(function*({ by, form: sent, words }) {
          const { domain, id } = yield* blocks.create(by, {
            domain: sent.get("domain") ?? "",
            allowWithApproval: sent.get("allow_with_approval") === "yes",
            otherDomains: sent.getAll("other_domains"),
            confirmed: sent.get("confirmed") === "yes"
          })
          return {
            notice: words.say("{domain} was added to the list.", { domain }),
            to: path,
            undo: { path, act: "remove", fields: { id: String(id) } }
          }
        })
      },
      remove: {
        run: Effect.fnUntraced(function*({ by, form: sent, words }) {
          const block = yield* blocks.find(idOf(sent.get("id")) ?? 0n)
          yield* blocks.remove(by, block.id)
          return {
            notice: words.say("{domain} was removed from the list.", { domain: block.domain }),
            undo: {
              path,
              act: "create",
              fields: { domain: block.domain, ...(block.allowWithApproval && { ["allow_with_approval"]: "yes" }) }
            }
          }
        })
      }
    }
  })
})

/** E-mail providers that are blocked from sign-up. */
export const layer = Layer.unwrap(make).pipe(Layer.provide(EmailDomainBlocks.layer))
