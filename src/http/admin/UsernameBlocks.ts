import { Effect, Layer } from "effect"
import { UsernameBlocks } from "../../services/moderation/UsernameBlocks.ts"
import { html } from "../html/Html.ts"
import { button, checkbox, form, select, textField } from "./parts/Controls.ts"
import { eachChosen } from "./parts/Each.ts"
import { bulk, choose, nothing, pageOf, pager, table, totalOf } from "./parts/Lists.ts"
import { badge, moment, section } from "./parts/Texts.ts"
import { StaffPages } from "./StaffPages.ts"
import type { Visit } from "./Visit.ts"

const path = "/admin/username_blocks"

const make = Effect.gen(function*() {
  const blocks = yield* UsernameBlocks
  const staff = yield* StaffPages

  const show = Effect.fnUntraced(function*(visit: Visit) {
    const { words: { say }, words } = visit
    const found = yield* blocks.page(pageOf(visit))
    const total = yield* totalOf(visit, found.length, blocks.total)
    const rows = found.map(({ allowWithApproval, createdAt, exact, id, username }) => [
      choose(id, say("Choose {name}", { name: username })),
      username,
      html`${exact ? badge(say("The whole name")) : badge(say("A part of a name"))}${
        allowWithApproval ? html` ${badge(say("With approval"), "warn")}` : ""
      }`,
      moment(words, createdAt)
    ])
    return {
      title: say("Blocked user names"),
      body: html`<p class="soft">${
        say("Nobody signs up by these names, look-alikes included: digits that stand for letters count as those.")
      }</p>${
        section(
          say("New block"),
          form(
            visit,
            html`${textField(visit, { name: "username", label: say("User name"), max: 30, required: true })}${
              select(visit, {
                name: "exact",
                label: say("What it means"),
                choices: [["yes", say("The whole name")], ["no", say("Every name that holds it")]]
              })
            }${
              checkbox(visit, {
                name: "allow_with_approval",
                label: say("Let people in whom a moderator approves")
              })
            }${button("create", say("Block"), "danger")}`
          )
        )
      }${total}${
        rows.length === 0 ? nothing(say("No name is blocked.")) : bulk(
          visit,
          table([say("Chosen"), say("User name"), say("State"), say("Since")], rows, say("Blocked user names")),
          html`${button("approval", say("With approval"))}${button("never", say("Never"))}${
            button("remove", say("Unblock"))
          }`
        )
      }${pager(visit, found.map(({ id }) => id))}`
    }
  })

  const changed = (allowWithApproval: boolean) => (visit: Visit) =>
    eachChosen(
      visit,
      (id) => blocks.update(visit.by, id, { allowWithApproval }),
      ({ say }, count) => say("Done: {count, plural, one {# block was} other {# blocks were}} changed.", { count })
    )
  return staff.page({
    path: "/admin/username_blocks",
    permission: "manageBlocks",
    show,
    acts: {
      create: {
        run: Effect.fnUntraced(function*({ by, form: sent, words }) {
          const { id, username } = yield* blocks.create(by, {
            username: sent.get("username") ?? "",
            exact: sent.get("exact") !== "no",
            allowWithApproval: sent.get("allow_with_approval") === "yes"
          })
          return {
            notice: words.say("Nobody signs up as {username} any more.", { username }),
            undo: { path, act: "remove", fields: { ids: String(id) } }
          }
        })
      },
      approval: { run: changed(true) },
      never: { run: changed(false) },
      remove: {
        run: (visit) =>
          eachChosen(
            visit,
            (id) => blocks.remove(visit.by, id),
            ({ say }, count) =>
              say("Done: {count, plural, one {# name was} other {# names were}} unblocked.", { count })
          )
      }
    }
  })
})

/** Reserved usernames. */
export const layer = Layer.unwrap(make).pipe(Layer.provide(UsernameBlocks.layer))
