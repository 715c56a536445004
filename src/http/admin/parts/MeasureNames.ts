import type { Messages } from "../../../services/languages/Messages.ts"

const names: Readonly<Record<string, (words: Pick<Messages, "say">) => string>> = {
  ["active_users"]: ({ say }) => say("People who were here"),
  ["new_users"]: ({ say }) => say("New people"),
  interactions: ({ say }) => say("Boosts, favourites and replies"),
  ["opened_reports"]: ({ say }) => say("New reports"),
  ["resolved_reports"]: ({ say }) => say("Resolved reports"),
  ["tag_accounts"]: ({ say }) => say("People who used the hashtag"),
  ["tag_uses"]: ({ say }) => say("Posts with the hashtag"),
  ["tag_servers"]: ({ say }) => say("Servers with the hashtag"),
  ["instance_accounts"]: ({ say }) => say("Accounts that we know"),
  ["instance_media_attachments"]: ({ say }) => say("Bytes of its files"),
  ["instance_reports"]: ({ say }) => say("Reports about its people"),
  ["instance_statuses"]: ({ say }) => say("Posts that we have"),
  ["instance_follows"]: ({ say }) => say("Its people whom ours follow"),
  ["instance_followers"]: ({ say }) => say("Its people who follow ours"),
  languages: ({ say }) => say("Languages of active people"),
  sources: ({ say }) => say("Apps by which people signed up"),
  servers: ({ say }) => say("Servers that sent most"),
  ["space_usage"]: ({ say }) => say("Storage"),
  ["software_versions"]: ({ say }) => say("Software"),
  ["tag_languages"]: ({ say }) => say("Languages of posts"),
  ["instance_languages"]: ({ say }) => say("Languages of its posts")
}

/** Returns the label of a measure or dimension; an unknown key is returned as it is. */
export const measureNames = (words: Pick<Messages, "say">, key: string): string =>
  Object.hasOwn(names, key) ? names[key]?.(words) ?? key : key
