// The name of an application on a shared Spark cluster contains its project and job.

export const sparkApplicationName = (projectId: number, jobId: number | string): string => `millrace-${projectId}-${jobId}`

/** Undefined for an application that no job of this project started. */
export function jobOfApplication(name: string, projectId: number): string | undefined {
  const prefix = sparkApplicationName(projectId, '')
  return name.startsWith(prefix) ? name.slice(prefix.length) : undefined
}
