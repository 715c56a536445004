import { Effect, Layer } from "effect"
import { Instance } from "../../../services/instance/Instance.ts"
import type { InstanceChange } from "../../../services/instance/InstanceChange.ts"
import { InstancePolicies } from "../../../services/instance/InstancePolicies.ts"
import { InstanceSettings } from "../../../services/instance/InstanceSettings.ts"
import type { SettingValues } from "../../../services/instance/SettingTable.ts"
import { decodeTimelineReaders, type TimelineReaders } from "../../../services/instance/TimelinesAccess.ts"
import { validationFailed } from "../../../services/runtime/Errors.ts"
import { html } from "../../html/Html.ts"
import { button, form, select } from "./parts/Controls.ts"
import { sentSettings, settingFields } from "./parts/SettingForms.ts"
import { section } from "./parts/Texts.ts"
import { StaffPages } from "./StaffPages.ts"
import type { Act, Visit } from "./StaffVisit.ts"

const path = "/admin/settings"
const feeds = ["liveFeeds", "hashtagFeeds"] as const
const origins = ["local", "remote"] as const

const make = Effect.gen(function*() {
  const instance = yield* Instance
  const policies = yield* InstancePolicies
  const settings = yield* InstanceSettings
  const staff = yield* StaffPages

  const settingsForm = (visit: Visit, name: "about" | "registrations", now: SettingValues) =>
    form(visit, html`${settingFields(visit, name, now)}${button(name, visit.words.say("Save"), "main")}`)

  const timelinesForm = (visit: Visit, { timelinesAccess: timelines }: SettingValues) => {
    const { words: { say } } = visit
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
  }

  const show = Effect.fnUntraced(function*(visit: Visit) {
    const { words: { say } } = visit
    const now = { ...(yield* instance.about), ...(yield* policies.current) }
    return {
      title: say("Server settings"),
      body: html`<p class="row"><a href="${path}/appearance">${say("Images and color")}</a> <a href="${path}/budgets">${
        say("Storage budgets")
      }</a> <a href="${path}/documents">${say("Privacy policy and terms of service")}</a></p>
${section(say("About"), settingsForm(visit, "about", now))}${
        section(say("Registrations"), settingsForm(visit, "registrations", now))
      }${section(say("Access to timelines"), timelinesForm(visit, now))}`
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
      about: saves((visit) => sentSettings(visit, "about")),
      registrations: saves((visit) => sentSettings(visit, "registrations")),
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
