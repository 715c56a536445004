import { inboundMillisMin } from "../../federation/inbox/InboundActivities.ts"
import { nowMark, type Step } from "../Step.ts"
import { lacksAccount } from "./ColumnSql.ts"

const seconds = inboundMillisMin / 1_000

/** Ids of posts that other servers deleted, for as long as a late copy of one could come. */
export const step: Step = {
  name: "deleted posts",
  table: "tombstones",
  where: `t.account_id IS NOT NULL AND t.created_at > '${nowMark}'::timestamp - interval '${seconds} seconds'`,
  columns: "account_id:bigint uri created_at:timestamptz",
  rejects: [lacksAccount("account_id"), ["coalesce(uri, '') = ''", "the deleted post has no id"]],
  write: [
    `INSERT INTO tombstones (uri, account_id, deleted_at) SELECT uri, account_id, created_at FROM staged ON CONFLICT DO NOTHING`
  ]
}
