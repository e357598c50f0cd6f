/** The condition that an organization is not deleted, as SQL text; a deletion that has begun counts. */
export const organizationExistsSql = 'organizations.deletion IS NULL'
