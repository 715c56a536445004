import { Effect, Layer } from "effect"
import * as EmailAddresses from "../../../services/identity/EmailAddresses.ts"
import { Instance } from "../../../services/instance/Instance.ts"
import type { InstanceChange } from "../../../services/instance/InstanceChange.ts"
import { InstancePolicies } from "../../../services/instance/InstancePolicies.ts"
import { InstanceSettings } from "../../../services/instance/InstanceSettings.ts"
import { decodeTimelineReaders, type TimelineReaders } from "../../../services/instance/SettingNames.ts"
import { validationFailed } from "../../../services/runtime/Errors.ts"
import { html } from "../../html/Html.ts"
import { button, checkbox, form, select, textArea, textField } from "./parts/Controls.ts"
import { section } from "./parts/Texts.ts"
import { StaffPages } from "./StaffPages.ts"
import type { Act, Visit } from "./Visit.ts"

const path = "/admin/settings"
/** Maximum characters, as in `InstanceChange`. */
const titleMax = 100
const descriptionMax = 500

const feeds = ["liveFeeds", "hashtagFeeds"] as const
const origins = ["local", "remote"] as const

const make = Effect.gen(function*() {
  const instance = yield* Instance
  const policies = yield* InstancePolicies
  const settings = yield* InstanceSettings
  const staff = yield* StaffPages

  const aboutForm = Effect.fnUntraced(function*(visit: Visit) {
    const { words: { say } } = visit
    const about = yield* instance.about
    return form(
      visit,
      html`${textField(visit, { name: "title", label: say("Server name"), value: about.title, max: titleMax })}${
        textArea(visit, {
          name: "description",
          label: say("Short description"),
          value: about.shortDescription,
          rows: 2,
          max: descriptionMax
        })
      }${
        textArea(visit, {
          name: "extended_description",
          label: say("Server description"),
          hint: say("Plain text or HTML; unsafe markup is removed."),
          value: about.extendedDescription?.html ?? "",
          rows: 8
        })
      }${
        textField(visit, {
          name: "contact_email",
          type: "email",
          label: say("Contact email"),
          value: about.contactEmail
        })
      }${
        textField(visit, {
          name: "contact_account",
          label: say("Contact account"),
          value: about.contactUsername ?? ""
        })
      }${
        textField(visit, {
          name: "languages",
          label: say("Server languages"),
          hint: say("Language tags separated by spaces: de en pt-BR"),
          value: about.languages.join(" ")
        })
      }${
        textField(visit, {
          name: "default_language",
          label: say("Default language"),
          hint: say("Used in pages and emails for people without a language preference."),
          value: about.defaultLanguage ?? ""
        })
      }${button("about", say("Save"), "main")}`
    )
  })

  const registrationsForm = Effect.fnUntraced(function*(visit: Visit) {
    const { words: { say } } = visit
    const now = yield* policies.current
    return form(
      visit,
      html`${
        select(visit, {
          name: "registrations",
          label: say("Sign-ups"),
          value: now.registrations,
          choices: [
            ["open", say("Everyone")],
            ["approval", say("Approval required")],
            ["closed", say("Invite only")]
          ]
        })
      }${
        textArea(visit, {
          name: "registrations_message",
          label: say("Message when sign-ups are closed"),
          value: now.registrationsMessage ?? ""
        })
      }${
        checkbox(visit, {
          name: "reason_required",
          label: say("Ask for a reason to join"),
          checked: now.reasonRequired
        })
      }${
        checkbox(visit, {
          name: "auto_close",
          label: say("Require approval when no moderator was active for a week"),
          checked: now.autoClose
        })
      }${
        textField(visit, {
          name: "min_age",
          type: "number",
          label: say("Minimum age"),
          hint: say("Empty or 0 for none. The date of birth is not stored."),
          value: String(now.minAge ?? "")
        })
      }${button("registrations", say("Save"), "main")}`
    )
  })

  const timelinesForm = Effect.fnUntraced(function*(visit: Visit) {
    const { words: { say } } = visit
    const { timelines } = yield* policies.current
    const labels = {
      liveFeeds: { local: say("Live feed: local posts"), remote: say("Live feed: remote posts") },
      hashtagFeeds: {
        local: say("Hashtags and links: local posts"),
        remote: say("Hashtags and links: remote posts")
      }
    }
    return form(
      visit,
      html`${
        feeds.flatMap((feed) =>
          origins.map((origin) =>
            select(visit, {
              name: `${feed}.${origin}`,
              label: labels[feed][origin],
              value: timelines[feed][origin],
              choices: [
                ["public", say("Everyone")],
                ["authenticated", say("Signed-in users")],
                ["disabled", say("Only selected roles")]
              ]
            })
          )
        )
      }${button("timelines", say("Save"), "main")}`
    )
  })

  const show = Effect.fnUntraced(function*(visit: Visit) {
    const { words: { say } } = visit
    return {
      title: say("Server settings"),
      body: html`<p class="row"><a href="${path}/appearance">${say("Images and color")}</a> <a href="${path}/budgets">${
        say("Storage budgets")
      }</a> <a href="${path}/documents">${say("Privacy policy and terms of service")}</a></p>
${section(say("About"), yield* aboutForm(visit))}${section(say("Registrations"), yield* registrationsForm(visit))}${
        section(say("Access to timelines"), yield* timelinesForm(visit))
      }`
    }
  })

  const saves = (
    change: (visit: Visit) => Effect.Effect<InstanceChange, ReturnType<typeof validationFailed>>
  ): Act => ({
    run: Effect.fnUntraced(function*(visit) {
      yield* settings.change(visit.by, yield* change(visit))
      return { notice: visit.words.say("The settings were saved.") }
    })
  })

  return staff.page({
    path: "/admin/settings",
    permission: "manageSettings",
    show,
    acts: {
      about: saves(Effect.fnUntraced(function*({ form: sent }) {
        const text = (name: string) => sent.get(name)?.trim() ?? ""
        const email = text("contact_email")
        const contactEmail = email === "" ? "" : EmailAddresses.parse(email)
        if (contactEmail === undefined) return yield* validationFailed("E-mail address is invalid")
        return {
          title: text("title"),
          description: text("description"),
          extendedDescription: text("extended_description"),
          contactEmail,
          contactAccount: text("contact_account").replace(/^@/, ""),
          languages: text("languages").split(/[\s,]+/).filter((tag) => tag !== ""),
          defaultLanguage: text("default_language")
        }
      })),
      registrations: saves(Effect.fnUntraced(function*({ form: sent }) {
        const mode = (["open", "approval", "closed"] as const).find((one) => one === sent.get("registrations"))
        if (mode === undefined) return yield* validationFailed("Registrations mode is not included in the list")
        const age = sent.get("min_age")?.trim() ?? ""
        if (!/^\d{0,6}$/.test(age)) return yield* validationFailed("Min age is invalid")
        return {
          registrations: mode,
          registrationsMessage: sent.get("registrations_message") ?? "",
          reasonRequired: sent.get("reason_required") === "yes",
          autoClose: sent.get("auto_close") === "yes",
          minAge: age === "" ? null : Number(age)
        }
      })),
      timelines: saves(Effect.fnUntraced(function*({ form: sent }) {
        const reach = (feed: string, origin: string) => {
          const found: TimelineReaders | undefined = decodeTimelineReaders(sent.get(`${feed}.${origin}`))
          return found === undefined
            ? Effect.fail(validationFailed("Timelines access is not included in the list"))
            : Effect.succeed(found)
        }
        const feedsOf = (feed: typeof feeds[number]) =>
          Effect.all({ local: reach(feed, "local"), remote: reach(feed, "remote") })
        return {
          timelinesAccess: { liveFeeds: yield* feedsOf("liveFeeds"), hashtagFeeds: yield* feedsOf("hashtagFeeds") }
        }
      }))
    }
  })
})

/** Server settings: name and texts, registrations, and access to timelines. */
export const layer = Layer.unwrap(make).pipe(Layer.provide(InstanceSettings.layer))
