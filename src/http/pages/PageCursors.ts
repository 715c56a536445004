import { idMax } from "../../services/database/Ids.ts"

/** Parses the cursor `max_id` of a page's list; an invalid value means the newest entries. */
export const cursorOf = (text: string | null): bigint | undefined => {
  const id = text !== null && /^[0-9]{1,19}$/.test(text) ? BigInt(text) : undefined
  return id === undefined || id > idMax ? undefined : id
}
