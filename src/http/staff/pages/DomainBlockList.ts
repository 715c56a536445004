import { Effect, Layer } from "effect"
import { DomainBlocks } from "../../../services/federation/domains/DomainBlocks.ts"
import { Unprocessable } from "../../../services/runtime/Errors.ts"
import { html } from "../../html/Html.ts"
import { actButton, button, form, textField } from "./parts/Controls.ts"
import { blockChangeIn, domainBlockFields, fieldsOfBlock, severityNames } from "./parts/DomainBlockForm.ts"
import { eachChosen } from "./parts/Each.ts"
import { pagedList } from "./parts/RowLists.ts"
import { suffixConfirmation } from "./parts/SuffixConfirmation.ts"
import { badge, definitions, moment, section } from "./parts/Texts.ts"
import { StaffPages } from "./StaffPages.ts"
import { requireId, type Visit } from "./StaffVisit.ts"

const path = "/admin/domain_blocks"

const make = Effect.gen(function*() {
  const blocks = yield* DomainBlocks
  const staff = yield* StaffPages

  const show = Effect.fnUntraced(function*(visit: Visit) {
    const { words: { say }, words } = visit
    const listed = yield* pagedList(visit, blocks, {
      caption: say("Blocked servers"),
      empty: say("No servers are blocked."),
      headings: [say("Server"), say("State"), say("Since")],
      cells: (block) => [
        html`<a href="${path}/${String(block.id)}">${block.domain}</a>${
          block.publicComment === null ? "" : html`<span class="hint" dir="auto">${block.publicComment}</span>`
        }`,
        html`${badge(severityNames[block.severity](words), block.severity === "suspend" ? "bad" : "warn")}${
          block.rejectMedia ? html` ${badge(say("Reject media"))}` : ""
        }${block.rejectReports ? html` ${badge(say("Reject reports"))}` : ""}${
          block.listId === null ? "" : html` ${badge(say("From a list"))}`
        }`,
        moment(words, block.createdAt)
      ],
      selected: { name: ({ domain }) => domain, buttons: html`${button("remove", say("Unblock"))}` }
    })
    return {
      title: say("Blocked servers"),
      body: html`<p class="row"><a href="${path}/new">${
        say("Block a server")
      }</a> <a href="/admin/domain_block_files">${say("Import and export")}</a> <a href="/admin/domain_allows">${
        say("Allowed servers")
      }</a></p>${listed}`
    }
  })

  const list = staff.page({
    path: "/admin/domain_blocks",
    permission: "manageFederation",
    show,
    acts: {
      remove: {
        confirm: ({ words: { say } }) =>
          Effect.succeed({
            title: say("Unblock these servers?"),
            text: say("Their accounts and posts are visible again. Removed follows are not restored."),
            button: say("Unblock")
          }),
        run: (visit) =>
          eachChosen(
            visit,
            (id) => blocks.remove(id, visit.by),
            ({ say }, count) => say("{count, plural, one {# server was} other {# servers were}} unblocked.", { count })
          )
      }
    }
  })

  const fresh = staff.page({
    path: "/admin/domain_blocks/new",
    permission: "manageFederation",
    show: (visit) => {
      const { words: { say } } = visit
      return Effect.succeed({
        title: say("Block a server"),
        body: section(
          say("New block"),
          form(
            visit,
            html`${
              textField(visit, {
                name: "domain",
                label: say("Domain"),
                hint: say("Includes its subdomains."),
                value: visit.query.get("domain") ?? "",
                required: true
              })
            }${domainBlockFields(visit)}${button("create", say("Block"), "danger")}`
          )
        )
      })
    },
    acts: {
      create: {
        confirm: ({ form: sent, words: { say } }) =>
          Effect.succeed(
            suffixConfirmation(say, sent) ?? (sent.get("severity") !== "suspend" ? undefined : {
              title: say("Block {domain}?", { domain: sent.get("domain") ?? "" }),
              text: say(
                "Follows between people here and there are removed permanently. Accounts and posts from there are hidden, and their media files are removed."
              ),
              button: say("Block"),
              danger: true
            })
          ),
        run: Effect.fnUntraced(function*(visit) {
          const { form: sent, words: { say } } = visit
          const block = yield* Effect.catchTag(
            blocks.create(sent.get("domain") ?? "", yield* blockChangeIn(visit), visit.by),
            "DomainBlockConflict",
            ({ existing }) =>
              new Unprocessable({ text: `You have already imposed stricter limits on ${existing.domain}.` })
          )
          return {
            notice: say("{domain} was added to the list.", { domain: block.domain }),
            to: path,
            undo: { path: `${path}/${block.id}`, act: "remove" }
          }
        })
      }
    }
  })

  const asked = (visit: Visit) => Effect.flatMap(requireId(visit), (id) => blocks.find(id))
  const one = staff.page({
    path: "/admin/domain_blocks/:id",
    permission: "manageFederation",
    show: Effect.fnUntraced(function*(visit) {
      const { words: { say }, words } = visit
      const block = yield* asked(visit)
      return {
        title: block.domain,
        body: html`${definitions([[say("Since"), moment(words, block.createdAt)]])}${
          section(
            say("Block"),
            form(visit, html`${domainBlockFields(visit, block)}${button("save", say("Save"), "main")}`)
          )
        }${
          section(
            say("Unblock"),
            html`<p class="soft">${say("Accounts and posts are visible again. Removed follows are not restored.")}</p>${
              actButton(visit, "remove", say("Unblock"))
            }`
          )
        }<p class="row"><a href="/admin/instances/${block.domain}">${say("The server")}</a> <a href="${path}">${
          say("Blocked servers")
        }</a></p>`
      }
    }),
    acts: {
      save: {
        run: Effect.fnUntraced(function*(visit) {
          const before = yield* asked(visit)
          yield* blocks.update(before.id, yield* blockChangeIn(visit), visit.by)
          return {
            notice: visit.words.say("The block was changed."),
            undo: { path: visit.path, act: "save", fields: fieldsOfBlock(before) }
          }
        })
      },
      remove: {
        run: Effect.fnUntraced(function*(visit) {
          const before = yield* asked(visit)
          yield* blocks.remove(before.id, visit.by)
          return {
            notice: visit.words.say("{domain} is no longer blocked.", { domain: before.domain }),
            to: path,
            undo: { path: `${path}/new`, act: "create", fields: fieldsOfBlock(before) }
          }
        })
      }
    }
  })
  return Layer.mergeAll(list, fresh, one)
})

/** Servers that are limited or blocked. */
export const layer = Layer.unwrap(make).pipe(Layer.provide(DomainBlocks.layer))
