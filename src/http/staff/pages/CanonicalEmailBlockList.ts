import { Effect, Layer } from "effect"
import { requireEmail } from "../../../services/identity/RegistrationRules.ts"
import { CanonicalEmailBlocks, canonicalEmailHash } from "../../../services/moderation/CanonicalEmailBlocks.ts"
import { missingParameter } from "../../../services/runtime/Errors.ts"
import { html } from "../../html/Html.ts"
import { actButton, button, form, textField } from "./parts/Controls.ts"
import { pagedList } from "./parts/RowLists.ts"
import { section } from "./parts/Texts.ts"
import { StaffPages } from "./StaffPages.ts"
import { idOf, type Visit } from "./StaffVisit.ts"

const path = "/admin/canonical_email_blocks"

const make = Effect.gen(function*() {
  const blocks = yield* CanonicalEmailBlocks
  const staff = yield* StaffPages

  const show = Effect.fnUntraced(function*(visit: Visit) {
    const { words: { say } } = visit
    const list = yield* pagedList(visit, blocks, {
      caption: say("Blocked email addresses"),
      empty: say("No email addresses are blocked."),
      headings: [say("Hash"), say("Actions")],
      cells: ({ canonicalEmailHash: digest, id }) => [
        html`<code>${digest}</code>`,
        actButton(visit, "remove", say("Remove"), { kind: "danger", fields: { id: String(id) } })
      ]
    })
    const email = textField(visit, { name: "email", type: "email", label: say("Email address"), required: true })
    return {
      title: say("Blocked email addresses"),
      body: html`<p class="soft">${
        say(
          "Nobody can sign up with these addresses, in any spelling. Only hashes are stored, from which addresses cannot be read."
        )
      }</p><div class="columns">${
        section(say("Block an email address"), form(visit, html`${email}${button("create", say("Block"), "danger")}`))
      }${
        section(say("Check an email address"), form(visit, html`${email}${button("test", say("Check"))}`))
      }</div>${list}`
    }
  })

  return staff.page({
    path: "/admin/canonical_email_blocks",
    permission: "manageBlocks",
    show,
    acts: {
      create: {
        run: Effect.fnUntraced(function*({ by, form: sent, words }) {
          const email = sent.get("email")?.trim() || undefined
          const digest = email === undefined ? sent.get("digest") ?? "" : canonicalEmailHash(yield* requireEmail(email))
          const { id } = yield* blocks.create(by, digest)
          return {
            notice: words.say("The address is blocked."),
            undo: { path, act: "remove", fields: { id: String(id) } }
          }
        })
      },
      test: {
        run: Effect.fnUntraced(function*({ form: sent, words }) {
          const email = sent.get("email")?.trim() ?? ""
          if (email === "") return yield* missingParameter("email")
          const found = yield* blocks.matching(yield* requireEmail(email))
          return {
            notice: found.length === 0
              ? words.say("This address is not blocked.")
              : words.say("This address is blocked, by the hash {digest}.", {
                digest: found[0]?.canonicalEmailHash ?? ""
              })
          }
        })
      },
      remove: {
        run: Effect.fnUntraced(function*({ by, form: sent, words }) {
          const block = yield* blocks.find(idOf(sent.get("id")) ?? 0n)
          yield* blocks.remove(by, block.id)
          return {
            notice: words.say("The address is no longer blocked."),
            undo: { path, act: "create", fields: { digest: block.canonicalEmailHash } }
          }
        })
      }
    }
  })
})

/** E-mail addresses that are blocked from sign-up in every spelling. */
export const layer = Layer.unwrap(make).pipe(Layer.provide(CanonicalEmailBlocks.layer))
