/** The reporter that shows where the time of a test run went: its ten slowest files, and the sum of the cluster, with imports. */
const SHOWN = 10;
/** Its files start servers and nodes, and wait for them: their sum is kept small by hand. */
const CLUSTER = /^tests\/(cluster\/|security\/cluster)/;

export default class SlowestFiles {
  onTestRunEnd(modules) {
    const rows = modules.map((module) => {
      const { duration, collectDuration, setupDuration } = module.diagnostic();
      return {
        ms: duration + collectDuration + setupDuration,
        file: module.relativeModuleId,
        project: module.project.name,
      };
    });
    if (rows.length < SHOWN) return;

    const slowest = rows.toSorted((a, b) => b.ms - a.ms).slice(0, SHOWN);
    console.log(`\nThe ${SHOWN} slowest of ${rows.length} files:`);
    for (const { ms, file, project } of slowest) {
      console.log(`${(ms / 1000).toFixed(1).padStart(7)} s  ${file} (${project})`);
    }
    const ofCluster = rows.filter(({ file }) => CLUSTER.test(file));
    const sum = ofCluster.reduce((total, { ms }) => total + ms, 0);
    if (ofCluster.length > 0)
      console.log(`${(sum / 1000).toFixed(1).padStart(7)} s  all ${ofCluster.length} files of the cluster`);
  }
}
