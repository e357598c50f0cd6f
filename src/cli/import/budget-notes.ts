import { type Fields, fieldsOf, isObject, listOf, textOf } from '../../lib/json/json.ts'
import { nameSet } from '../../lib/text.ts'
import { defaultOrganization } from '../../storage/bootstrap-key.ts'
import { shellWord } from '../quote.ts'
import { limitArguments, limitFields, readBudget, readLimits } from './imported-limits.ts'
import type { Notes } from './source.ts'

/** Notes the budgets and limits of `litellm_settings` with the command that sets them: Weir has them in its database. */
export function noteBudgets(settings: Fields, notes: Notes): void {
  noteProxyBudget(settings, notes)
  noteTeams(settings, notes)
  noteKeyDefaults(settings, notes)
}

/** The budget of the whole proxy. */
function noteProxyBudget(settings: Fields, notes: Notes): void {
  const path = 'litellm_settings'
  const flags = limitArguments(readBudget({ fields: settings, path, notes }))
  if (flags !== '') notes.add(`${path}.max_budget`, `Run: weir orgs set ${defaultOrganization} ${flags}`)
  else if (settings.budget_duration != null)
    notes.add(`${path}.budget_duration`, 'Without a max_budget, it has no effect.')
}

function noteTeams({ default_team_settings: teams }: Fields, notes: Notes): void {
  for (const [index, team] of listOf(teams).entries()) {
    const path = `litellm_settings.default_team_settings[${index}]`
    const fields = fieldsOf(team)
    const id = textOf(fields.team_id)?.trim()
    const flags = limitArguments(readLimits({ fields, path, notes }))
    const name = id && id !== defaultTeam ? shellWord(id) : 'NAME'
    notes.add(path, `Run, for each such team: weir projects create ${name}${flags && ` ${flags}`}`)
    notes.addUnknown(fields, path, teamFields)
  }
}

/** The id that stands for teams without settings of their own. */
const defaultTeam = 'default-settings'
const teamFields = nameSet(`team_id ${limitFields}`)

/** The limits that new keys have unless they are created with others. */
function noteKeyDefaults({ default_key_generate_params: defaults }: Fields, notes: Notes): void {
  if (!isObject(defaults)) return
  const path = 'litellm_settings.default_key_generate_params'
  const flags = limitArguments(readLimits({ fields: defaults, path, notes }))
  notes.add(
    path,
    `Weir has no defaults for new keys; create each with: weir keys create${flags && ` ${flags}`}`,
  )
}
