import { Effect, Layer } from "effect"
import { UsernameBlocks } from "../../../services/moderation/UsernameBlocks.ts"
import { html } from "../../html/Html.ts"
import { button, checkbox, form, select, textField } from "./parts/Controls.ts"
import { eachChosen } from "./parts/Each.ts"
import { pagedList } from "./parts/RowLists.ts"
import { badge, moment, section } from "./parts/Texts.ts"
import { StaffPages } from "./StaffPages.ts"
import type { Visit } from "./StaffVisit.ts"

const path = "/admin/username_blocks"

const make = Effect.gen(function*() {
  const blocks = yield* UsernameBlocks
  const staff = yield* StaffPages

  const show = Effect.fnUntraced(function*(visit: Visit) {
    const { words: { say }, words } = visit
    const list = yield* pagedList(visit, blocks, {
      caption: say("Blocked usernames"),
      empty: say("No usernames are blocked."),
      headings: [say("Username"), say("State"), say("Since")],
      cells: ({ allowWithApproval, createdAt, exact, username }) => [
        username,
        html`${exact ? badge(say("Whole name")) : badge(say("Part of a name"))}${
          allowWithApproval ? html` ${badge(say("Needs approval"), "warn")}` : ""
        }`,
        moment(words, createdAt)
      ],
      selected: {
        name: ({ username }) => username,
        buttons: html`${button("approval", say("Needs approval"))}${button("never", say("Never"))}${
          button("remove", say("Unblock"))
        }`
      }
    })
    return {
      title: say("Blocked usernames"),
      body: html`<p class="soft">${
        say("Nobody can sign up with these names or look-alikes: digits in place of letters match, too.")
      }</p>${
        section(
          say("New block"),
          form(
            visit,
            html`${textField(visit, { name: "username", label: say("Username"), max: 30, required: true })}${
              select(visit, {
                name: "exact",
                label: say("Match"),
                choices: [["yes", say("Whole name")], ["no", say("Any name that contains it")]]
              })
            }${
              checkbox(visit, {
                name: "allow_with_approval",
                label: say("Allow sign-ups with approval")
              })
            }${button("create", say("Block"), "danger")}`
          )
        )
      }${list}`
    }
  })

  const changed = (allowWithApproval: boolean) => (visit: Visit) =>
    eachChosen(
      visit,
      (id) => blocks.update(visit.by, id, { allowWithApproval }),
      ({ say }, count) => say("{count, plural, one {# block was} other {# blocks were}} changed.", { count })
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
            notice: words.say("{username} can no longer be used to sign up.", { username }),
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
              say("{count, plural, one {# username was} other {# usernames were}} unblocked.", { count })
          )
      }
    }
  })
})

/** Reserved usernames. */
export const layer = Layer.unwrap(make).pipe(Layer.provide(UsernameBlocks.layer))
