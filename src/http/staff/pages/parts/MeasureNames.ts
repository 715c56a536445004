import type { Messages } from "../../../../services/languages/Messages.ts"

const names: Readonly<Record<string, (words: Pick<Messages, "say">) => string>> = {
  ["active_users"]: ({ say }) => say("Active users"),
  ["new_users"]: ({ say }) => say("New users"),
  interactions: ({ say }) => say("Boosts, favourites and replies"),
  ["opened_reports"]: ({ say }) => say("New reports"),
  ["resolved_reports"]: ({ say }) => say("Resolved reports"),
  ["tag_accounts"]: ({ say }) => say("People who used the hashtag"),
  ["tag_uses"]: ({ say }) => say("Posts with the hashtag"),
  ["tag_servers"]: ({ say }) => say("Servers with the hashtag"),
  ["instance_accounts"]: ({ say }) => say("Known accounts"),
  ["instance_media_attachments"]: ({ say }) => say("Media storage"),
  ["instance_reports"]: ({ say }) => say("Reports about its accounts"),
  ["instance_statuses"]: ({ say }) => say("Known posts"),
  ["instance_follows"]: ({ say }) => say("Its accounts followed from here"),
  ["instance_followers"]: ({ say }) => say("Its followers of accounts here"),
  languages: ({ say }) => say("Languages of active users"),
  sources: ({ say }) => say("Apps used to sign up"),
  servers: ({ say }) => say("Most active servers"),
  ["space_usage"]: ({ say }) => say("Storage"),
  ["software_versions"]: ({ say }) => say("Software"),
  ["tag_languages"]: ({ say }) => say("Languages of posts"),
  ["instance_languages"]: ({ say }) => say("Languages of its posts")
}

/** Returns the label of a measure or dimension; an unknown key is returned as it is. */
export const measureNames = (words: Pick<Messages, "say">, key: string): string =>
  Object.hasOwn(names, key) ? names[key]?.(words) ?? key : key
