import { eq, isNull, type SQL, sql } from 'drizzle-orm'
import { noLimits } from '../../domain/accounting/allowance.ts'
import { timeSortedId } from '../../lib/id.ts'
import { assertProjectName, invalid, noProjectWithId } from '../common/account-rules.ts'
import type {
  ProjectChange,
  ProjectInput,
  ProjectPageQuery,
  ProjectQueries,
  ProjectRecord,
  Projects,
} from '../ports/accounts.ts'
import type { AuditEvent, AuditFields } from '../ports/audit.ts'
import { type ListedPage, toListedPage } from '../ports/listed-pages.ts'
import { type api_keys, organizations, projects } from '../schema/organizations.ts'
import { ifEqual, insertion, pageBy, pick, returning, type RowOf, select, update, where } from '../sql.ts'
import { execute, type Parameters, type Script, type ScriptRunner, statement } from '../statement.ts'
import {
  allowanceColumns,
  allowanceFields,
  type AllowanceRow,
  changedAllowance,
  toAllowance,
} from './allowance.ts'
import { type Change, recordChange } from './audit.ts'
import { projectValues } from './audit-fields.ts'
import { projectsNearEnd } from './near-end.ts'
import { accountNamed, exists } from './organizations.ts'

/** The projects of a database. */
export function createProjectQueries({ read }: ScriptRunner): ProjectQueries {
  return {
    list: (organization) => read(() => listProjects(organization)),
    page: (query) => read(() => pageOfProjects(query)),
    find: (id) => read(() => findProject(id)),
    names: (ids) => read(() => findNames(ids)),
  }
}

/** The same with the changes of an actor. */
export function createProjects(runner: ScriptRunner, by: () => Change): Projects {
  const { transact } = runner
  return {
    ...createProjectQueries(runner),
    create: (input) => transact(() => createProject(input, by())),
    change: (id, change) => transact(() => changeProject(id, change, by())),
    delete: (id) => transact(() => deleteProject(id, by())),
  }
}

const findNames = namesIn(projects, projects.id)

/** Returns a script that reads the names of rows of a table by their ids. */
export function namesIn(
  table: typeof projects | typeof api_keys,
  id: typeof projects.id | typeof api_keys.public_id,
) {
  const selectNames = statement((values: Parameters<{ ids: readonly string[] }>, { isOneOf }) =>
    select({ id, name: table.name }, sql`from ${table} where ${isOneOf(id, values.ids)}`),
  )
  return function* (ids: readonly string[]): Script<ReadonlyMap<string, string>> {
    const found = ids.length === 0 ? [] : yield* selectNames({ ids })
    return new Map(found.map((row) => [row.id, row.name]))
  }
}

/** Creates a project; throws an error for the operator if its name is taken or not valid. */
export function* createProject(
  { organization, name, ...limits }: ProjectInput,
  by: Change,
): Script<ProjectRecord> {
  const { id: organizationId } = yield* accountNamed(organization)
  yield* assertFree(organizationId, name)
  const id = timeSortedId('proj_')
  const columns = { id, organization_id: organizationId, name, created_at: by.now }
  yield* insertProject({ ...columns, ...changedAllowance(noLimits, limits) })
  return yield* recorded('project.created', yield* projectWithId(id), null, by)
}

/** Writes the entry of a change, and returns the changed project. */
function* recorded(
  event: AuditEvent,
  project: ProjectRecord,
  before: AuditFields | null,
  by: Change,
): Script<ProjectRecord> {
  const { id, name, organizationId, organization } = project
  yield* recordChange(by, {
    event,
    resource: { type: 'project', id, name },
    organization: { id: organizationId, name: organization },
    projectId: id,
    before,
    after: projectValues(project),
  })
  return project
}

/** Only the transaction that has locked the organization gives a name to one of its projects. */
function* assertFree(organizationId: string, name: string): Script<void> {
  assertProjectName(name)
  if ((yield* idOfProject(organizationId, name)) !== undefined)
    throw invalid(`The project ${name} already exists.`)
}

/** Returns the id of the project with this name that exists; undefined if there is none. */
export function* idOfProject(organizationId: string, name: string): Script<string | undefined> {
  const [project] = yield* selectNamed({ organizationId, name })
  return project?.id
}

const selectNamed = statement((values: Parameters<{ organizationId: string; name: string }>) =>
  select(
    { id: projects.id },
    sql`from ${projects} where ${projects.organization_id} = ${values.organizationId}
      and ${projects.name} = ${values.name} and ${isNull(projects.deleted_at)}`,
  ),
)

const insertProject = insertion(projects, [
  'id',
  'organization_id',
  'name',
  'created_at',
  ...allowanceColumns,
])

function* listProjects(organization: string | undefined): Script<readonly ProjectRecord[]> {
  const existing = where(isNull(projects.deleted_at), ifEqual(organizations.name, organization))
  const rows = yield* execute(() => selectProjects(sql`${existing} order by ${projects.id}`))
  return rows.map(toProjectRecord)
}

function* pageOfProjects(query: ProjectPageQuery): Script<ListedPage<ProjectRecord> | undefined> {
  const { after, organizationId, deleted, nearEndAt } = query
  const last = after === undefined ? undefined : yield* findProject(after)
  if (after !== undefined && !isOf(last, organizationId)) return undefined
  const nearEnd = nearEndAt === undefined ? undefined : yield* projectsNearEnd(nearEndAt)
  const ofOrganization = ifEqual(projects.organization_id, organizationId)
  const isKept = deleted ? undefined : isNull(projects.deleted_at)
  const rows = yield* execute((dialect) =>
    selectProjects(pageBy(projects.id, after, query, [ofOrganization, isKept, nearEnd?.(dialect)])),
  )
  return toListedPage(rows.map(toProjectRecord), query)
}

/** Whether there is a project, and it is one of this organization, if one is named. */
function isOf(project: ProjectRecord | undefined, organizationId: string | undefined): boolean {
  return project !== undefined && (organizationId ?? project.organizationId) === project.organizationId
}

function* changeProject(id: string, { name, ...limits }: ProjectChange, by: Change): Script<ProjectRecord> {
  yield* accountNamed((yield* projectWithId(id)).organization)
  // Another change may have been committed until the organization was locked.
  const project = yield* projectWithId(id)
  if (name !== undefined && name !== project.name) yield* assertFree(project.organizationId, name)
  yield* updateProject({ id, name: name ?? project.name, ...changedAllowance(project.limits, limits) })
  return yield* recorded('project.updated', yield* projectWithId(id), projectValues(project), by)
}

const updateProject = statement((values: Parameters<AllowanceRow & { id: string; name: string }>) =>
  update(projects, pick(values, ['name', ...allowanceColumns]), sql`where ${eq(projects.id, values.id)}`),
)

function* deleteProject(id: string, by: Change): Script<ProjectRecord> {
  const { length } = yield* setDeleted({ id, now: by.now })
  const project = yield* projectWithId(id)
  if (length === 0) return project
  return yield* recorded('project.archived', project, projectValues({ ...project, deletedAt: null }), by)
}

const setDeleted = statement((values: Parameters<{ id: string; now: number }>) =>
  update(
    projects,
    { deleted_at: values.now },
    returning(
      { id: projects.id },
      sql`where ${eq(projects.id, values.id)} and ${isNull(projects.deleted_at)}`,
    ),
  ),
)

function* projectWithId(id: string): Script<ProjectRecord> {
  const project = yield* findProject(id)
  if (project === undefined) throw noProjectWithId(id)
  return project
}

/** Returns the project of an organization that exists; throws an error for the operator if there is none. */
export function* existingProject(organizationId: string, id: string): Script<ProjectRecord> {
  const project = yield* projectWithId(id)
  if (project.organizationId !== organizationId || project.deletedAt !== null) throw noProjectWithId(id)
  return project
}

function* findProject(id: string): Script<ProjectRecord | undefined> {
  const [row] = yield* selectProject({ id })
  return row && toProjectRecord(row)
}

const selectProject = statement((values: Parameters<{ id: string }>) =>
  selectProjects(sql`where ${eq(projects.id, values.id)}`),
)

const projectFields = {
  id: projects.id,
  name: projects.name,
  organizationId: projects.organization_id,
  organization: organizations.name,
  ...allowanceFields(projects),
  createdAt: projects.created_at,
  deletedAt: projects.deleted_at,
}

function selectProjects(rest: SQL) {
  return select(
    projectFields,
    sql`from ${projects} join ${organizations}
      on ${organizations.id} = ${projects.organization_id} and ${exists} ${rest}`,
  )
}

function toProjectRecord(row: RowOf<typeof projectFields>): ProjectRecord {
  const { id, name, organizationId, organization, createdAt, deletedAt } = row
  return { id, name, organizationId, organization, limits: toAllowance(row), createdAt, deletedAt }
}
