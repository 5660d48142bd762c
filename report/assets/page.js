// Draws the charts whose figures stand in the element "charts", in the colours of the page, and
// again when the system changes between light and dark.
(function () {
  "use strict";
  var charts = JSON.parse(document.getElementById("charts").textContent) || [];
  var drawn = [];

  function color(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  }

  function format(value, unit) {
    var text = Math.abs(value) >= 100 ? Math.round(value).toLocaleString("en-US") : String(value);
    return unit === "frames" ? text + " frames" : text + " " + unit;
  }

  // Long names are broken into lines so that a phone has room for the bars.
  function label(text, narrow) {
    if (!narrow || text.length <= 18) return text;
    var lines = [""];
    text.split(/ |(?<=-)/).forEach(function (word) {
      var last = lines.length - 1;
      var glue = lines[last] === "" || lines[last].endsWith("-") ? "" : " ";
      if ((lines[last] + glue + word).length > 18 && lines[last] !== "") lines.push(word);
      else lines[last] += glue + word;
    });
    return lines;
  }

  // The axis of the names. Every name is shown.
  function names() {
    return {
      grid: { display: false }, border: { color: color("--line") },
      ticks: { color: color("--soft"), autoSkip: false, maxRotation: 60 }
    };
  }

  // The axis of the values. A logarithmic one names powers of ten only.
  function values(chart) {
    return {
      type: chart.log ? "logarithmic" : "linear",
      min: !chart.log ? undefined : chart.unit === "frames" ? 0.5 : 0.01,
      grid: { color: color("--line") }, border: { color: color("--line") },
      ticks: {
        color: color("--soft"), maxTicksLimit: 7, maxRotation: 0,
        callback: function (value) {
          var power = Math.log10(value);
          if (chart.log && Math.abs(power - Math.round(power)) > 1e-9) return "";
          return value.toLocaleString("en-US");
        }
      },
      title: { display: true, text: chart.unit, color: color("--soft") }
    };
  }

  function draw(chart) {
    var box = document.querySelector('[data-chart="' + chart.id + '"]');
    if (!box) return;
    var across = chart.kind === "barh";
    var narrow = box.clientWidth < 560;
    var labels = chart.labels.map(function (text) { return label(text, narrow && across); });
    if (across) {
      box.style.height = Math.max(120, 64 + labels.length * (narrow ? 44 : 30)) + "px";
    }
    var fills = [color("--first"), color("--second")];
    drawn.push(new Chart(box.querySelector("canvas"), {
      type: "bar",
      data: {
        labels: labels,
        datasets: chart.series.map(function (series, i) {
          return { label: series.name, data: series.values, backgroundColor: fills[i % 2],
            borderRadius: 2, minBarLength: 2, maxBarThickness: 28 };
        })
      },
      options: {
        animation: false, responsive: true, maintainAspectRatio: false,
        indexAxis: across ? "y" : "x",
        scales: across ? { x: values(chart), y: names() } : { x: names(), y: values(chart) },
        plugins: {
          legend: { display: chart.series.length > 1, labels: { color: color("--text") } },
          tooltip: { callbacks: {
            title: function (items) { return chart.labels[items[0].dataIndex]; },
            label: function (item) {
              return item.dataset.label + ": " + format(item.raw, chart.unit);
            }
          } }
        }
      }
    }));
  }

  function drawAll() {
    drawn.splice(0).forEach(function (chart) { chart.destroy(); });
    charts.forEach(draw);
    document.documentElement.dataset.charts = String(drawn.length);
  }

  drawAll();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
}());
