export { layer } from "./Profiles.ts"
